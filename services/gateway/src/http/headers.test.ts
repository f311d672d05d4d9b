// The content security policy: strict, and open for exactly the way back to the partner (R25).
import { expect, test } from 'vitest';
import { contentSecurityPolicy, profileHeaders } from './headers.ts';

test('nothing but our stylesheet and our forms where no partner is known', () => {
  expect(contentSecurityPolicy(false)).toBe(
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  );
});

test('a form that leads to a partner may lead on wherever its callback goes', () => {
  expect(contentSecurityPolicy(true)).not.toContain('form-action');
  expect(contentSecurityPolicy(true)).toContain("default-src 'none'");
});

test('transport security is demanded where the issuer is https, and only there', () => {
  expect(profileHeaders('page', 'https://x.example')).toHaveProperty('strict-transport-security');
  expect(profileHeaders('page', 'http://x.example')).not.toHaveProperty('strict-transport-security');
});
