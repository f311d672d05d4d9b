// Two thousand generated requests over every route: no 5xx, no hang, no answer with more than its schema allows, and no
// metric with a name that they made up. The seed is printed when one fails. What a busy machine had no time for is sent
// again; that no request has ended a process is seen at the end.
import { errorStatuses } from '@course-exchange/rules/error-codes';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { read, tableRows } from '../docs/documents.ts';
import { authorizeUrl, logIn } from '../support/flow.ts';
import { type Answer, formEncoded, type Sent, send, sendUntilServed } from '../support/http.ts';
import { partnerFor, runningStack, userWho } from '../support/stack-file.ts';
import { openUserAgent } from '../support/user-agent.ts';

const stack = runningStack();
const [partner] = stack.partners;
const [user] = stack.users;
const errorCodes = [...Object.keys(errorStatuses), 'method_not_allowed'];
const routes = tableRows(read('docs/routes.md')).map(([path = '']) => path.replaceAll('`', ''));
const paths = [...routes.map((path) => path.replace(/:\w+/, 'abc')), '/api/events/', '/', '/made-up'];
const names = (
  'response_type client_id redirect_uri scope state nonce code_challenge code_challenge_method prompt max_age ' +
  'login_hint id_token_hint ui_locales request claims grant_type code code_verifier refresh_token client_secret ' +
  'interaction form_token email password decision choice access_token __proto__ constructor'
).split(' ');
/** Names that every object has. */
const inherited = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf'];
const values = [
  ...['', 'code', 'openid', 'openid email profile', 'none', 'S256', 'plain', 'authorization_code'],
  ...['refresh_token', 'allow', 'another', '-1', '9'.repeat(30), 'a'.repeat(43), 'made-up', '%', '\0'],
  ...['\ud800', '\u202eabc', "' or 1=1 --", '<script>alert(1)</script>', ...inherited],
  ...[partner?.clientId, partner?.clientSecret, partner?.redirectUris[0], user?.email].map(String),
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
  fc.constantFrom(
    'Bearer x',
    'Basic x',
    'Basic Og==',
    'Bearer',
    'bearer a.b.c',
    'Digest x',
    'Basic bWFkZS11cDp4',
  ),
  fc.base64String({ maxLength: 80 }).map((text) => `Basic ${text}`),
);
const form = 'application/x-www-form-urlencoded';
const request = fc.record({
  method: fc.constantFrom('GET', 'GET', 'POST', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH'),
  path,
  query: fields,
  body: fields,
  headers: fc.record(
    {
      'content-type': fc.constantFrom(form, form, `${form}; charset=utf-8`, 'application/json', 'text/plain'),
      authorization: header,
      cookie: fc.constantFrom(
        'session=x',
        'session=x; session=y',
        'interaction-a=b; =; ;;',
        '__Host-session=\xe9',
      ),
    },
    { requiredKeys: [] },
  ),
});
type Generated = typeof request extends fc.Arbitrary<infer T> ? T : never;

/** A network for this test alone: its failed logins count for no other test (R30.7). */
const from = '127.0.77.7';

function ask({ method, path, query, body, headers }: Generated): Promise<Answer> {
  const sent: Sent = {
    method,
    headers,
    ...(['GET', 'HEAD'].includes(method) ? {} : { body: formEncoded(body) }),
    ...(path === '/login' ? { from } : {}),
  };
  return sendUntilServed(`${stack.issuer}${path}?${formEncoded(query)}`, sent);
}

function judge({ status, headers, text, json }: Answer, { method, path }: Generated): void {
  const shown = `${method} ${path} → ${status} ${text.slice(0, 200)}`;
  expect(status, shown).toBeLessThan(500);
  expect(headers['x-request-id'], shown).toBeDefined();
  expect(headers['x-content-type-options'], shown).toBe('nosniff');
  expect(Object.keys(headers).join(), shown).not.toContain('access-control-');
  if (method === 'HEAD' || status === 303) return;
  if (headers['content-type']?.startsWith('text/html')) expect([200, 400, 429], shown).toContain(status);
  else if (status !== 200) {
    expect(Object.keys(json()), shown).toEqual(['error']);
    expect(errorCodes, shown).toContain(json().error);
  }
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
  for (const process of ['gateway', 'identity']) {
    const { text } = await send(`${stack.addresses?.[`${process} health`]}/metrics`);
    expect(text).toContain('course_exchange_');
    expect(text).not.toContain('made-up');
  }
}, 600_000);

test('a live form decides nothing by a name that every object has', async () => {
  const agent = openUserAgent(stack.issuer, { from });
  const partner = partnerFor(stack, 'openid', 'email', 'profile');
  const begin = (prompt: string) =>
    agent.visit(authorizeUrl(`${stack.issuer}/authorize`, partner, { prompt }));
  const user = userWho(stack, 'no designs');
  for (const prompt of ['login', 'login consent', 'select_account consent']) {
    let page = await begin(prompt);
    if (prompt === 'login consent' && page.kind === 'page') page = await logIn(agent, page, user);
    const form = page.kind === 'page' && page.forms.find(({ fields }) => fields.length > 1);
    if (page.kind !== 'page' || !form) throw new Error(`no form of ${prompt}`);
    const known = form.fields.map(({ name }) => name);
    for (const value of inherited)
      for (const name of [...known, 'decision', 'choice', value]) {
        const outcome = await agent.submit(page, form, { [name]: value });
        expect(outcome.answer.status, `${name}=${value}`).toBeLessThan(500);
        expect(outcome.kind === 'departure' && outcome.parameters.get('code')).toBeFalsy();
      }
  }
});
