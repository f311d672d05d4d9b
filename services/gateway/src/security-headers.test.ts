// The content security policy: strict, and open for exactly the way back to the partner (R25).
import { expect, test } from 'vitest';
import { contentSecurityPolicy, surfaceHeaders } from './security-headers.ts';

test('nothing but our stylesheet and our forms where no partner is known', () => {
  expect(contentSecurityPolicy('')).toBe(
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  );
});

test('a form may lead to the verified origin and on by its scheme', () => {
  expect(contentSecurityPolicy('https://partner.example:8443')).toContain(
    "form-action 'self' https://partner.example:8443 https:;",
  );
});

test('what is no origin never comes into the policy', () => {
  for (const hostile of ["https://x; script-src 'unsafe-inline'", 'javascript:alert(1)', 'https://x/y', '*'])
    expect(contentSecurityPolicy(hostile)).toBe(contentSecurityPolicy(''));
});

test('transport security is demanded where the issuer is https, and only there', () => {
  expect(surfaceHeaders('page', 'https://x.example')).toHaveProperty('strict-transport-security');
  expect(surfaceHeaders('page', 'http://x.example')).not.toHaveProperty('strict-transport-security');
});

test('pages are stored nowhere, framed nowhere and tell nobody where they are', () => {
  expect(surfaceHeaders('page', 'http://x.example')).toMatchObject({
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  });
});
