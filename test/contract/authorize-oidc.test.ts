// What OpenID Connect adds to the authorization request.
import { decodeJwt } from 'jose';
import { describe, expect, test } from 'vitest';
import { logIn, logInAndAgree, loginForm } from '../support/flow.ts';
import type { DemoUser } from '../support/stack-file.ts';
import {
  begin,
  browserOf,
  freshBrowser,
  full,
  grant,
  oidc,
  partnerFor,
  tokensFor,
  twinPartner,
  typical,
  userWho,
} from './deployment.ts';
import { expectDeparture, expectErrorRedirect, expectPage } from './expectations.ts';

/** Never agrees with `course-walk`-like partners in any test, so that consent stays missing. */
const undecided = () => userWho('unverified');
const openidOnly = () => partnerFor('openid');

async function signedIn(user: DemoUser): Promise<ReturnType<typeof browserOf>> {
  await grant({ user });
  return browserOf(user);
}

test('prompt=none without a session is login_required [R5.1 S7.channel.1]', async () => {
  expectErrorRedirect(await begin(freshBrowser(), full, { prompt: 'none', state: 's' }), 'login_required');
});

test('prompt=none without consent is consent_required [R5.2]', async () => {
  const agent = await signedIn(undecided());
  const outcome = await begin(agent, openidOnly(), { prompt: 'none', state: 's' });
  expect(expectErrorRedirect(outcome, 'consent_required').parameters.get('state')).toBe('s');
});

test('prompt=none with session and consent gives a code at once [R5.1 R6.1]', async () => {
  const outcome = await begin(await signedIn(typical), full, { prompt: 'none' });
  expect(expectDeparture(outcome).parameters.get('code')).not.toBeNull();
});

describe('prompt=none with another value is invalid_request by redirect [R5.5]', () => {
  test.each(['none login', 'login none', 'none consent', 'none none login'])('%s', async (prompt) => {
    for (const agent of [freshBrowser(), await signedIn(typical)]) {
      expectErrorRedirect(await begin(agent, full, { prompt, state: 's' }), 'invalid_request');
    }
  });
});

test.each(['consent', 'select_account', 'consent select_account', 'login', 'login consent'])(
  'prompt=%s shows who is signed in, with “use another account” [R5.3 R5.4]',
  async (prompt) => {
    const page = expectPage(await begin(await signedIn(typical), full, { prompt }));
    expect(page.text.includes(typical.name) || page.answer.text.includes(typical.email), page.text).toBe(
      true,
    );
    expect(page.text).toMatch(/another account/i);
  },
);

test('prompt=login asks for the password of one who is signed in [R5.3]', async () => {
  const agent = freshBrowser();
  await grant({ agent });
  let asked = false;
  const watching = {
    ...agent,
    submit: (...step: Parameters<typeof agent.submit>) => {
      asked ||= loginForm(step[0]) !== undefined;
      return agent.submit(...step);
    },
  };
  const departure = await logInAndAgree(watching, await begin(agent, full, { prompt: 'login' }), typical);
  expect(departure.parameters.get('code')).not.toBeNull();
  expect(asked).toBe(true);
});

test('max_age brings auth_time, and nothing else does [R5.6 R15.2]', async () => {
  const without = decodeJwt((await tokensFor()).id_token ?? '');
  expect(without).not.toHaveProperty('auth_time');
  const before = Math.floor(Date.now() / 1_000);
  const { id_token: token = '' } = await tokensFor({ parameters: { max_age: '3600' } });
  expect(decodeJwt(token).auth_time).toBeTypeOf('number');
  expect(Number(decodeJwt(token).auth_time)).toBeLessThanOrEqual(before + 1);
});

test('max_age=0 asks for the password again [R5.6]', async () => {
  const outcome = await begin(await signedIn(typical), full, { max_age: '0', prompt: 'none' });
  expectErrorRedirect(outcome, 'login_required');
});

describe('a malformed max_age is invalid_request by redirect [R5.7]', () => {
  test.each(['-1', 'abc', '1.5', '1e3', '0x10', ' 5', '+5', '5 '])('%j', async (max_age) => {
    const outcome = await begin(freshBrowser(), full, { max_age, state: 's' });
    expect(expectErrorRedirect(outcome, 'invalid_request').parameters.get('state')).toBe('s');
  });
});

test('login_hint fills the login form, escaped [R5.8]', async () => {
  for (const hint of [typical.email, '"><script>alert(1)</script>@example.com']) {
    const page = expectPage(await begin(freshBrowser(), full, { login_hint: hint }));
    expect(loginForm(page)?.fields.find(({ name }) => name === 'email')?.value).toBe(hint);
    expect(page.answer.text).not.toContain('<script>alert');
  }
});

describe('id_token_hint', () => {
  test('for the user who is signed in changes nothing [R5.9]', async () => {
    const { id_token: id_token_hint } = await tokensFor();
    const outcome = await begin(browserOf(typical), full, { prompt: 'none', id_token_hint });
    expect(expectDeparture(outcome).parameters.get('code')).not.toBeNull();
  });

  test('for another user shows the login form, or is login_required under none [R5.10]', async () => {
    const other = userWho('no designs');
    const { id_token: id_token_hint } = await tokensFor({ user: other });
    // Not the shared browser of `typical`, in which somebody else ends up signed in.
    const agent = freshBrowser();
    await grant({ agent });
    expectErrorRedirect(await begin(agent, full, { prompt: 'none', id_token_hint }), 'login_required');
    const page = expectPage(await begin(agent, full, { id_token_hint }));
    expect(loginForm(page)?.fields.find(({ name }) => name === 'email')?.value).toBe('');
    const departure = await logInAndAgree(agent, page, other);
    expect(departure.parameters.get('code')).not.toBeNull();
  });

  test('for another user than the one who then logs in ends in login_required [R5.19]', async () => {
    const { id_token: id_token_hint } = await tokensFor({ user: userWho('no designs') });
    const agent = freshBrowser();
    const page = expectPage(await begin(agent, full, { id_token_hint, state: 's' }));
    // A double click has the same answer.
    for (const outcome of [await logIn(agent, page, typical), await logIn(agent, page, typical)])
      expect(expectErrorRedirect(outcome, 'login_required').parameters.get('state')).toBe('s');
  });

  test('that does not verify, for whatever reason, is invalid_request [R5.9 R5.18]', async () => {
    const { id_token: token = '', access_token } = await tokensFor();
    const [header, payload, signature = ''] = token.split('.');
    const foreign = (await tokensFor({ partner: twinPartner() })).id_token;
    const twisted = `${header}.${payload}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
    const agent = await signedIn(typical);
    for (const id_token_hint of [foreign, twisted, access_token, 'nonsense', 'a.b.c']) {
      for (const prompt of ['none', ''])
        expectErrorRedirect(await begin(agent, full, { prompt, id_token_hint }), 'invalid_request');
    }
  });
});

test('request and request_uri are refused by redirect and published as unsupported [R5.11 R5.12]', async () => {
  const agent = freshBrowser();
  const request = await begin(agent, full, { request: 'a.b.c', state: 's' });
  expect(expectErrorRedirect(request, 'request_not_supported').parameters.get('state')).toBe('s');
  const uri = await begin(agent, full, { request_uri: 'https://example.test/r', state: 's' });
  expect(expectErrorRedirect(uri, 'request_uri_not_supported').parameters.get('state')).toBe('s');
  for (const name of [
    'request_parameter_supported',
    'request_uri_parameter_supported',
    'claims_parameter_supported',
  ]) {
    expect(oidc[name], name).toBe(false);
  }
});

test('claims, acr_values, display and claims_locales are ignored [R5.13]', async () => {
  const ignored = {
    claims: '{"id_token":{"birthdate":null}}',
    acr_values: '1',
    display: 'wap',
    claims_locales: 'de',
  };
  const outcome = await begin(await signedIn(typical), full, { prompt: 'none', ...ignored });
  expect(expectDeparture(outcome).parameters.get('code')).not.toBeNull();
});

test('ui_locales chooses the language, before Accept-Language [R5.14]', async () => {
  for (const [ui_locales, language] of [
    ['de', 'de'],
    ['fr-FR de-AT en', 'de'],
    ['en', 'en'],
    ['xx', 'en'],
  ]) {
    const page = expectPage(await begin(freshBrowser(), full, { ui_locales }));
    expect(page.answer.text, ui_locales).toMatch(new RegExp(`<html[^>]* lang="${language}`));
  }
});
