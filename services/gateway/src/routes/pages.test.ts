// The pages' routes against stand-ins on the wire: what is sent on, what comes back, what a hostile name does.
import { LoginRejected_Reason } from '@course-exchange/proto/identity/v1/authorization';
import { Failure } from '@course-exchange/runtime/process/errors';
import { currentCall } from '@course-exchange/runtime/process/request-context';
import { afterEach, expect, test, vi } from 'vitest';
import {
  account,
  interactionId,
  page,
  type ServedGateway,
  type ServedOptions,
  serveGateway,
} from '../../testing/served-gateway.ts';

let gateway: ServedGateway;
afterEach(() => gateway.close());

async function serve(answers: ServedOptions['answers'] = {}, options: ServedOptions = {}): Promise<void> {
  gateway = await serveGateway({ ...options, answers });
}

function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(gateway.origin + path, { headers, redirect: 'manual' });
}

function post(
  path: string,
  form: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Response> {
  const body = new URLSearchParams(form);
  return fetch(gateway.origin + path, { method: 'POST', body, headers, redirect: 'manual' });
}

const login = `/login?interaction=${interactionId}`;
const cookie = `course-exchange-session=s1; course-exchange-interaction-${interactionId}=cookie`;
const hostile = '"><script>alert(1)</script>\u202e</title>';

test.each([
  { case: 'login' as const, value: { page: { ...page, clientName: hostile }, email: hostile } },
  {
    case: 'consent' as const,
    value: {
      page: { ...page, clientName: hostile, formToken: hostile },
      account: { name: hostile, email: hostile },
      scopes: ['openid', hostile],
      scopesGrantedBefore: ['email'],
    },
  },
])('names from outside never become markup: /$case', async (view) => {
  await serve({ getInteraction: async () => ({ view }) });
  const text = await (await get(`/${view.case}?interaction=${interactionId}`)).text();
  expect(text).toContain('&lt;script&gt;');
  expect(text).not.toContain('<script');
  expect(text.match(/<\/title>/g)).toHaveLength(1);
});

test('each page address leads to the page that comes next', async () => {
  await serve({ getInteraction: async () => ({ view: { case: 'account', value: { page, account } } }) });
  const answer = await get(login);
  const next = `/account?interaction=${interactionId}`;
  expect([answer.status, answer.headers.get('location')]).toEqual([303, next]);
  expect((await get(next)).status).toBe(200);
});

test('/authorize ties the interaction to the browser by a cookie and leads to its page (R4)', async () => {
  await serve();
  const answer = await get('/authorize?client_id=c');
  expect([answer.status, answer.headers.get('location')]).toEqual([303, login]);
  expect(answer.headers.get('set-cookie')).toBe(
    `course-exchange-interaction-${interactionId}=cookie; Max-Age=1800; Path=/; HttpOnly; SameSite=Lax`,
  );
});

test('a form that another site sent reaches identity without the browser’s proof (R6.6, R25.9)', async () => {
  const seen: unknown[] = [];
  await serve({
    submitConsent: async ({ interaction }) => {
      seen.push([interaction?.interactionCookie, interaction?.formToken, interaction?.browserSession]);
      return { outcome: { case: 'expired', value: {} } };
    },
  });
  const form = { interaction: interactionId, form_token: 't', decision: 'allow' };
  await post('/consent', form, { cookie, 'sec-fetch-site': 'same-origin' });
  const answer = await post('/consent', form, { cookie, 'sec-fetch-site': 'cross-site' });
  expect(seen).toEqual([
    ['cookie', 't', 's1'],
    ['', '', ''],
  ]);
  expect(answer.status).toBe(400);
});

test('a sign-out that another site sent ends no session [R25.9]', async () => {
  const endBrowserSession = vi.fn(async () => ({ ended: true }));
  await serve({ endBrowserSession });
  const statusFrom = async (site: string) =>
    (await post('/sign-out', { form_token: 't' }, { cookie, 'sec-fetch-site': site })).status;
  expect([await statusFrom('cross-site'), await statusFrom('same-origin')]).toEqual([400, 303]);
  expect(endBrowserSession).toHaveBeenCalledOnce();
});

test('a throttled login says when to try again, and what helps while an account is attacked [R30.2 R30.16]', async () => {
  const value = { reason: LoginRejected_Reason.THROTTLED, retryAfterSeconds: 8, view: { page, email: '' } };
  await serve({ submitLogin: async () => ({ outcome: { case: 'rejected', value } }) });
  const answer = await post('/login', { interaction: interactionId, email: 'a', password: 'x' });
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '8']);
  expect(await answer.text()).toContain('Too many failed attempts. Try again in 8 seconds');
  await gateway.close();
  const attacked = { ...value, accountAttacked: true };
  await serve({ submitLogin: async () => ({ outcome: { case: 'rejected', value: attacked } }) });
  const shown = await (
    await post('/login', { interaction: interactionId, email: 'a', password: 'x' })
  ).text();
  expect(shown).toContain('Try again in 8 seconds. There is no wait in a browser or a network where');
});

test('the user’s address comes through trusted proxies only [R30.9]', async () => {
  const seen: string[] = [];
  const submitLogin = async () => {
    seen.push(currentCall().clientAddress);
    return { outcome: { case: 'expired' as const, value: {} } };
  };
  const forged = { 'x-forwarded-for': '203.0.113.9, 198.51.100.7' };
  await serve({ submitLogin });
  await post('/login', {}, forged);
  await gateway.close();
  await serve({ submitLogin }, { trustedProxies: ['127.0.0.0/8'] });
  await post('/login', {}, forged);
  await post('/login', {}, { 'x-forwarded-for': 'nonsense' });
  expect(seen).toEqual(['127.0.0.1', '198.51.100.7', '127.0.0.1']);
});

test('a store that does not answer is a page for a person, with a reference and Retry-After (R14.1, R14.4)', async () => {
  const fail = async (): Promise<never> => {
    throw new Failure('temporarily_unavailable');
  };
  await serve({ beginAuthorization: fail, getInteraction: fail, submitLogin: fail, getBrowserSession: fail });
  const answers = [await get('/authorize'), await get(login), await post(login, {}), await get('/sign-out')];
  for (const answer of answers) {
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toMatch(/^[1-5]$/);
    expect(await answer.text()).toContain(answer.headers.get('x-request-id'));
  }
});

test('the page’s policy opens the way back to the partner (R25.8)', async () => {
  await serve();
  const policy = (await get(login)).headers.get('content-security-policy');
  expect(policy).not.toContain('form-action');
  const text = await (await get(login)).text();
  const stylesheet = /href="(\/assets\/[^"]+)"/.exec(text)?.[1] ?? '';
  expect((await get(stylesheet)).headers.get('cache-control')).toContain('immutable');
});

test.each(['/login', '/account', '/consent', '/cancel', '/sign-out'])(
  'a body that is no form gets the page of an expired one at %s [R6.4]',
  async (path) => {
    await serve();
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(gateway.origin + path, { method: 'POST', body: '{}', headers });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8']);
    expect(await answer.text()).not.toContain('invalid_request');
  },
);

test.each(['/authorize', login])(
  'an error that goes to the partner is the code of the line: %s',
  async (path) => {
    const redirect = { location: 'https://partner.example/cb?error=login_required', error: 'login_required' };
    const outcome = { case: 'redirect', value: redirect } as const;
    await serve({
      beginAuthorization: async () => ({ outcome }),
      getInteraction: async () => ({ view: outcome }),
    });
    expect((await get(path)).status).toBe(303);
    await expect
      .poll(() => gateway.lines.map((line) => JSON.parse(line)))
      .toContainEqual(expect.objectContaining({ message: 'request', status: 303, code: 'login_required' }));
    expect(gateway.lines.join()).not.toContain('partner.example');
  },
);
