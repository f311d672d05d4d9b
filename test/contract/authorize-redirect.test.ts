// Redirect URIs, state and the form of the redirect.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { authorizeUrl } from '../support/flow.ts';
import { send } from '../support/http.ts';
import { begin, freshBrowser, full, grant, oidc, orNone, stack } from './deployment.ts';
import { expectDeparture, expectError, expectErrorRedirect } from './expectations.ts';

const registered = full.redirectUris[0];

/** Values that decoding, or a URL parser between the query and the comparison, would turn into the registered one. */
function lookalikes(uri: string): readonly string[] {
  const { protocol, host, pathname, origin } = new URL(uri);
  return [
    `${uri}/`,
    `${uri}?`,
    `${uri}#`,
    ` ${uri}`,
    `${uri}\n`,
    `${origin}${pathname.toUpperCase()}`,
    `${protocol}//user@${host}${pathname}`,
    `${origin}/x/..${pathname}`,
    `${origin}${pathname.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`)}`,
    encodeURIComponent(uri),
  ].filter((value) => !full.redirectUris.includes(value));
}

test('only the registered string itself is accepted [R3.1 S5.redirect.1 S5.redirect.2 S7.code.2]', async () => {
  for (const value of lookalikes(registered)) {
    const url = authorizeUrl(oidc.authorization_endpoint, full, { redirect_uri: value });
    expectError(await send(url), 400, 'invalid_redirect_uri', JSON.stringify(value));
  }
});

test('the URI is form-decoded exactly once: any encoding of the registered string is it [R3.1]', async () => {
  const every = [...registered]
    .map((letter) => `%${letter.charCodeAt(0).toString(16).padStart(2, '0')}`)
    .join('');
  const base = authorizeUrl(oidc.authorization_endpoint, full, { redirect_uri: undefined, prompt: 'none' });
  expect((await send(`${base}&redirect_uri=${every}`)).headers.location).toMatch(/error=login_required/);
});

test('another partner’s redirect URI is not registered for this one [R1.4 S5.redirect.1]', async () => {
  const foreign = stack.partners
    .flatMap((partner) => partner.redirectUris)
    .filter((candidate) => !full.redirectUris.includes(candidate));
  for (const uri of orNone(foreign, 'redirect URI of another partner')) {
    const url = authorizeUrl(oidc.authorization_endpoint, full, { redirect_uri: uri });
    expectError(await send(url), 400, 'invalid_redirect_uri', uri);
  }
});

test('a partner with two redirect URIs is answered at the one it asked for [R3.1 R3.3]', async () => {
  const several = stack.partners.filter((partner) => partner.active && partner.redirectUris.length > 1);
  const [two] = orNone(several, 'active partner with two redirect URIs');
  for (const uri of two.redirectUris) {
    const outcome = await begin(freshBrowser(), two, { redirect_uri: uri, prompt: 'none', state: 's' });
    expect(expectDeparture(outcome).location).toBe(`${uri}?error=login_required&state=s`);
  }
});

test('state comes back exactly, whatever it is [R3.3 R3.4 R4.1 S7.channel.1]', async () => {
  const state = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 200 })
    .map((text) => text.toWellFormed());
  const agent = freshBrowser();
  await fc.assert(
    fc.asyncProperty(state, async (value) => {
      const outcome = await begin(agent, full, { prompt: 'none', state: value });
      const { location } = expectErrorRedirect(outcome, 'login_required');
      expect(location.startsWith(`${registered}?`)).toBe(true);
      expect(new URL(location).searchParams.get('state')).toBe(value);
      expect(location).toMatch(/^[\x21-\x7e]+$/);
    }),
    {
      numRuns: 60,
      examples: [['a+b c%20d&e=f#g?h'], ['\r\nSet-Cookie: x=1'], ['💥"<>\\'], ['ß/..;'], [' '], ['%']],
    },
  );
});

test('success is code and state alone, by 303 [R4.1 R4.2 S4.authorization.2 S3.code.1 R3.3 R18.1]', async () => {
  const { departure, code } = await grant({ parameters: { state: 'a b' } });
  expect(departure.answer.status).toBe(303);
  expect([...departure.parameters.keys()]).toEqual(['code', 'state']);
  expect(departure.parameters.get('state')).toBe('a b');
  expect(code).toMatch(/^[A-Za-z0-9_-]+$/);
  expect(departure.location.startsWith(`${registered}?code=${code}&state=`)).toBe(true);
});

test('success without state is the code alone [R3.5]', async () => {
  const { departure } = await grant({ parameters: { state: undefined } });
  expect([...departure.parameters.keys()]).toEqual(['code']);
});
