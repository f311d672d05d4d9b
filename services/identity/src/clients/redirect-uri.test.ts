import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isRegistered } from '../authorize/request.ts';
import { redirectUriProblem } from './client-registration.ts';

const production = 'production';
const test = 'test';

describe('registration of a redirect URI [R3.2]', () => {
  it.each([
    'https://partner.example/callback',
    'https://partner.example',
    'https://partner.example/',
    'https://partner.example:8443/a/b.c/~d/%41',
    'https://[2001:db8::1]/callback',
    'https://PARTNER.example/Callback',
  ])('accepts %s', (uri) => {
    expect(redirectUriProblem(uri, production)).toBeUndefined();
  });

  it.each([
    'https://partner.example/callback?x=1',
    'https://partner.example/callback?',
    'https://partner.example/callback#',
    'https://user@partner.example/callback',
    'https://user:pass@partner.example/callback',
    'https://*.partner.example/callback',
    'https://partner.example/*',
    'https://partner.example\\callback',
    'https://partner.example/call\nback',
    'https://partner.example/call back',
    'https://partner.example/../callback',
    'https://partner.example/a/.',
    'https://partner.example/a/%2e%2E/b',
    'https://partner.example/ä',
    'https://pärtner.example/',
    'http://partner.example/callback',
    'partner://callback',
    'javascript:alert(1)',
    'https:/partner.example',
    'https://',
    'https:///callback',
    'https://partner.example:99999/',
    ' https://partner.example/',
    '//partner.example/',
    '',
  ])('refuses %j', (uri) => {
    expect(redirectUriProblem(uri, test)).toMatch(/^It.*\.$/);
  });

  it.each(['http://localhost:3000/callback', 'http://127.0.0.1:9099/callback', 'http://[::1]/callback'])(
    'accepts %s outside production only',
    (uri) => {
      expect(redirectUriProblem(uri, test)).toBeUndefined();
      expect(redirectUriProblem(uri, production)).toBe('Its scheme is not https.');
    },
  );

  it.each(['http://localhost.evil.example/', 'http://127.0.0.1.evil.example/', 'http://127.0.0.2/'])(
    'does not take %s for a loopback address',
    (uri) => {
      expect(redirectUriProblem(uri, test)).toBe('Its scheme is not https.');
    },
  );

  it('accepts only what a URL parser reads without changing its path or adding to it', () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), (uri) => {
        fc.pre(redirectUriProblem(uri, production) === undefined);
        const url = new URL(uri);
        expect(url.search + url.hash + url.username + url.password).toBe('');
        expect(url.protocol).toBe('https:');
        expect(uri.endsWith(url.pathname) || url.pathname === '/').toBe(true);
      }),
    );
  });

  it('never throws, whatever the text', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (uri) => void redirectUriProblem(uri, test)));
  });
});

describe('comparison of a redirect URI (specification §5, R3)', () => {
  const registered = ['https://partner.example/callback'];

  it.each([
    'https://partner.example/callback/',
    'https://partner.example/Callback',
    'https://PARTNER.example/callback',
    'https://partner.example:443/callback',
    'https://partner.example/callback?',
    'https://partner.example/%63allback',
    'http://partner.example/callback',
    'https://partner.example/callback ',
    '',
  ])('%j is another one', (uri) => {
    expect(isRegistered(uri, registered)).toBe(false);
  });

  it('only the same text is the same', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        expect(isRegistered(a, [b])).toBe(a === b);
      }),
    );
  });
});
