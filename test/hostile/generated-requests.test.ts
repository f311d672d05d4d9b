// Two thousand generated requests over every route: no 5xx, no hang, and no answer with more than its schema
// allows. The seed is printed when one fails; run again with it to see the same requests. What a busy machine had no time
// for is sent again; that no request has ended a process is seen at the end.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Answer, formEncoded, type Sent, sendUntilServed } from '../support/http.ts';
import { runningStack } from '../support/running-stack.ts';

const stack = runningStack();
const [partner] = stack.partners;
const [user] = stack.users;

const errorCodes = [
  'access_denied',
  'invalid_client',
  'invalid_grant',
  'invalid_redirect_uri',
  'invalid_request',
  'invalid_scope',
  'invalid_token',
  'method_not_allowed',
  'not_found',
  'unsupported_grant_type',
  'unsupported_response_type',
];

const paths = [
  '/api/events',
  '/api/events/',
  '/api/events/abc/designs',
  '/authorize',
  '/login',
  '/account',
  '/consent',
  '/cancel',
  '/sign-out',
  '/token',
  '/userinfo',
  '/.well-known/openid-configuration',
  '/.well-known/jwks.json',
  '/',
];
const names = [
  'response_type',
  'client_id',
  'redirect_uri',
  'scope',
  'state',
  'nonce',
  'code_challenge',
  'code_challenge_method',
  'prompt',
  'max_age',
  'login_hint',
  'id_token_hint',
  'ui_locales',
  'request',
  'claims',
  'grant_type',
  'code',
  'code_verifier',
  'refresh_token',
  'client_secret',
  'interaction',
  'form_token',
  'email',
  'password',
  'decision',
  'choice',
  'access_token',
];
const values = [
  '',
  'code',
  'openid',
  'openid email profile',
  'none',
  'S256',
  'plain',
  'authorization_code',
  'refresh_token',
  'allow',
  'another',
  '-1',
  '9'.repeat(30),
  'a'.repeat(43),
  '%',
  '\u0000',
  '\ud800',
  '‮abc',
  "' or 1=1 --",
  '<script>alert(1)</script>',
  '__proto__',
  partner?.clientId ?? '',
  partner?.clientSecret ?? '',
  partner?.redirectUris[0] ?? '',
  user?.email ?? '',
];

const value = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...values) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 200 }) },
);
const fields = fc.array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 12 });
const path = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...paths) },
  {
    weight: 1,
    arbitrary: fc
      .string({ maxLength: 60 })
      .map((tail) => `/api/events/${tail.replace(/[^!-~]|#/g, '%')}/designs`),
  },
);
const header = fc.oneof(
  fc.constantFrom('Bearer x', 'Basic x', 'Basic Og==', 'Bearer', 'bearer a.b.c', 'Digest x', ''),
  fc.base64String({ maxLength: 80 }).map((text) => `Basic ${text}`),
);
const request = fc.record({
  method: fc.constantFrom('GET', 'GET', 'POST', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH'),
  path,
  query: fields,
  body: fields,
  contentType: fc.constantFrom(
    'application/x-www-form-urlencoded',
    'application/x-www-form-urlencoded; charset=utf-8',
    'application/json',
    'text/plain',
    'multipart/form-data',
    '',
  ),
  authorization: header,
  cookie: fc.constantFrom(
    '',
    'session=x',
    'session=x; session=y',
    'interaction-a=b; =; ;;',
    '__Host-session=é',
  ),
});
type Generated = typeof request extends fc.Arbitrary<infer T> ? T : never;

/** A network of this test's own: its failed logins count for nobody else (R30). */
const from = '127.0.77.7';

async function ask(generated: Generated): Promise<Answer> {
  const query = generated.query.length > 0 ? `?${formEncoded(generated.query)}` : '';
  const headers = {
    ...(generated.contentType === '' ? {} : { 'content-type': generated.contentType }),
    ...(generated.authorization === '' ? {} : { authorization: generated.authorization }),
    ...(generated.cookie === '' ? {} : { cookie: Buffer.from(generated.cookie).toString('latin1') }),
  };
  const withBody = !['GET', 'HEAD'].includes(generated.method);
  const sent: Sent = {
    method: generated.method,
    headers,
    ...(withBody ? { body: formEncoded(generated.body) } : {}),
    ...(generated.path === '/login' ? { from } : {}),
  };
  return sendUntilServed(`${stack.issuer}${generated.path}${query}`, sent);
}

function judge(answer: Answer, generated: Generated): void {
  const shown = `${generated.method} ${generated.path} → ${answer.status} ${answer.text.slice(0, 200)}`;
  expect(answer.status, shown).toBeLessThan(500);
  expect(answer.headers['x-request-id'], shown).toBeDefined();
  expect(answer.headers['x-content-type-options'], shown).toBe('nosniff');
  expect(
    Object.keys(answer.headers).filter((name) => name.startsWith('access-control-')),
    shown,
  ).toEqual([]);
  const type = answer.headers['content-type'] ?? '';
  if (generated.method === 'HEAD' || answer.status === 303) return;
  if (type.startsWith('text/html')) expect([200, 400], shown).toContain(answer.status);
  if (type.startsWith('text/html') || answer.status === 200) return;
  const body = answer.json();
  expect(Object.keys(body), shown).toEqual(['error']);
  expect(errorCodes, shown).toContain(body.error);
}

test('2,000 generated requests get no 5xx and nothing beyond their schema', async () => {
  const lanes = 16;
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: lanes, maxLength: lanes }), async (batch) => {
      const answers = await Promise.all(batch.map(ask));
      for (const [index, answer] of answers.entries()) judge(answer, batch[index] as Generated);
    }),
    { numRuns: 2_000 / lanes },
  );
  expect(runningStack().processes).toEqual(stack.processes);
}, 600_000);
