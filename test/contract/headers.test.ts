// Headers that every answer carries, and methods of known routes.
import { describe, expect, test } from 'vitest';
import { authorizeUrl } from '../support/flow.ts';
import { type Answer, type Sent, send } from '../support/http.ts';
import { accessTokenOf, begin, freshBrowser, full, issuer, oidc, typical } from './deployment.ts';
import { expectError, expectPage } from './expectations.ts';

type Ask = (headers?: Sent['headers']) => Promise<Answer>;

const kinds: readonly [string, Ask][] = [
  ['discovery', (headers = {}) => send(`${issuer}/.well-known/openid-configuration`, { headers })],
  ['key set', (headers = {}) => send(oidc.jwks_uri, { headers })],
  [
    'events',
    async (headers = {}) =>
      send(`${issuer}/api/events`, {
        headers: { ...headers, authorization: `Bearer ${await accessTokenOf(typical)}` },
      }),
  ],
  ['401', (headers = {}) => send(`${issuer}/api/events`, { headers })],
  ['404', (headers = {}) => send(`${issuer}/nothing`, { headers })],
  ['405', (headers = {}) => send(`${issuer}/api/events`, { method: 'DELETE', headers })],
  ['token endpoint', (headers = {}) => send(oidc.token_endpoint, { form: {}, headers })],
  ['user-info', (headers = {}) => send(oidc.userinfo_endpoint, { headers })],
  ['authorization error', (headers = {}) => send(oidc.authorization_endpoint, { headers })],
  [
    'authorization redirect',
    (headers = {}) => send(authorizeUrl(oidc.authorization_endpoint, full, { prompt: 'none' }), { headers }),
  ],
  ['start of the flow', (headers = {}) => send(authorizeUrl(oidc.authorization_endpoint, full), { headers })],
  ['expired page', (headers = {}) => send(`${issuer}/login?interaction=nothing`, { headers })],
  ['sign-out page', (headers = {}) => send(`${issuer}/sign-out`, { headers })],
  ['address alone', (headers = {}) => send(`${issuer}/`, { headers: { ...headers, accept: 'text/html' } })],
  ['broken path', (headers = {}) => send(`${issuer}/%zz`, { headers })],
];

describe('X-Request-Id and nosniff on every answer [R25.1 R25.2 R25.3]', () => {
  test.each(kinds)('%s', async (_, ask) => {
    const [one, two] = [await ask(), await ask()];
    for (const answer of [one, two]) {
      expect(answer.headers['x-request-id']).toMatch(/^[\w-]{8,128}$/);
      expect(answer.headers['x-content-type-options']).toBe('nosniff');
      expect(answer.headers['x-powered-by'] ?? answer.headers.server).toBeUndefined();
    }
    expect(one.headers['x-request-id']).not.toBe(two.headers['x-request-id']);
    const kept = await ask({ 'x-request-id': 'partner-0042-abcdef' });
    expect(kept.headers['x-request-id']).toBe('partner-0042-abcdef');
    for (const bad of ['<script>', 'a b', 'x'.repeat(1_000), '"', 'ä']) {
      expect((await ask({ 'x-request-id': bad })).headers['x-request-id']).not.toBe(bad);
    }
  });
});

describe('pages: no-store, CSP without frames, no referrer [R25.4 R25.5 R25.6 R1.11]', () => {
  test.each<[string, () => Promise<Answer>]>([
    ['login', async () => expectPage(await begin(freshBrowser(), full)).answer],
    ['expired', () => send(`${issuer}/login?interaction=nothing`)],
    ['sign-out', () => send(`${issuer}/sign-out`)],
    ['address alone', () => send(`${issuer}/`, { headers: { accept: 'text/html' } })],
  ])('%s', async (_, ask) => {
    const { headers } = await ask();
    expect(headers['content-type']).toMatch(/^text\/html; ?charset=utf-8/i);
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['referrer-policy']).toBe('no-referrer');
    const policy = String(headers['content-security-policy']);
    expect(policy).toMatch(/frame-ancestors 'none'/);
    expect(policy).not.toMatch(/unsafe|\*/);
  });
});

test('form-action names the verified redirect URI’s origin, or is left out [R25.8]', async () => {
  const { answer } = expectPage(await begin(freshBrowser(), full));
  const policy = String(answer.headers['content-security-policy']);
  const sources = /form-action ([^;]*)/.exec(policy)?.[1];
  if (sources !== undefined) expect(sources.split(' ')).toContain(new URL(full.redirectUris[0]).origin);
});

test('pages load nothing from elsewhere and run no script [R25.5]', async () => {
  const page = expectPage(await begin(freshBrowser(), full));
  expect(page.answer.text).not.toMatch(/<script|<style|\son\w+=|\sstyle=|javascript:/i);
  // A person may follow a link to elsewhere.
  const loaded = page.answer.text.replace(/<a\b[^>]*>/g, '');
  for (const [, url = ''] of loaded.matchAll(/(?:src|href)="([^"]*)"/g)) expect(url).toMatch(/^(\/[^/]|#)/);
});

test('cookies are HttpOnly and SameSite=Lax; __Host- and Secure where the issuer is https [R25.7 R29.6]', async () => {
  const agent = freshBrowser();
  await begin(agent, full);
  expect(agent.cookies.size).toBeGreaterThan(0);
  for (const { name, attributes } of agent.cookies.values()) {
    expect(attributes, name).toMatch(/HttpOnly/i);
    expect(attributes, name).toMatch(/SameSite=Lax/i);
    expect(attributes, name).toMatch(/Path=\/(;|$)/i);
    if (issuer.startsWith('https:')) expect(`${name}${attributes}`).toMatch(/^__Host-.*Secure/i);
  }
});

test('two Host headers are 400, even where both say the same [R25.11]', async () => {
  const { host } = new URL(issuer);
  for (const [, ask] of kinds) expect((await ask({ host: [host, host] })).status).toBe(400);
});

test('a form does not depend on Origin, which is null under no-referrer [R25.9]', async () => {
  const page = expectPage(await begin(freshBrowser(), full));
  expect(page.forms.length).toBeGreaterThan(0);
  for (const form of page.forms) {
    expect(form.method).toBe('post');
    expect(form.fields.some((field) => field.type === 'hidden' && field.value.length > 20)).toBe(true);
  }
});

test.each(['cross-site', 'same-site'])(
  'a form sent from another origin (%s) is foreign, whatever its token [R25.9 R6.6]',
  async (site) => {
    const agent = freshBrowser();
    const page = expectPage(await begin(agent, full));
    const [form] = page.forms;
    const cookie = [...agent.cookies.values()].map(({ name, value }) => `${name}=${value}`).join('; ');
    const fields = Object.fromEntries(form?.fields.map(({ name, value }) => [name, value]) ?? []);
    const answer = await send(new URL(form?.action ?? '', page.url).href, {
      form: { ...fields, email: typical.email, password: typical.password },
      headers: { cookie, 'sec-fetch-site': site },
    });
    const cookies = answer.headers['set-cookie']?.join('\n') ?? '';
    expect(cookies).not.toMatch(/session=[^;]+;/);
    expect(answer.headers.location ?? '').not.toMatch(/code=/);
  },
);

const pages = ['/login', '/account', '/consent', '/sign-out', '/cancel'].map((path): [string, string] => [
  `${issuer}${path}`,
  path === '/cancel' ? 'POST' : 'GET, POST',
]);
const routes: readonly [string, string][] = [
  ...pages,
  [oidc.authorization_endpoint, 'GET, POST'],
  [oidc.token_endpoint, 'POST'],
  [oidc.userinfo_endpoint, 'GET, POST'],
  [`${issuer}/.well-known/openid-configuration`, 'GET, HEAD'],
  [oidc.jwks_uri, 'GET, HEAD'],
];

describe('a method that a route does not have is 405 with Allow [R5.16 R7.10 R8.1 R31.1 R31.2 R31.3]', () => {
  test.each(routes)('%s', async (url, allow) => {
    const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'];
    for (const method of methods.filter((one) => !allow.split(', ').includes(one))) {
      const answer = await send(url, { method });
      expect([method, answer.status, answer.headers.allow]).toEqual([method, 405, allow]);
      if (method !== 'HEAD') expectError(answer, 405, 'method_not_allowed', method);
    }
  });

  test.each(pages)('%s answers a POST', async (url) => {
    const post = await send(`${url}?interaction=nothing`, { form: {} });
    expect(post.status).not.toBe(405);
    expect(post.status).toBeLessThan(500);
  });
});
