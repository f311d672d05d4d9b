// The resource API, user-info and the token endpoint against stand-ins on the wire: exactly the fields of
// specification §2 and §4, and what is handed on.
import { Failure } from '@course-exchange/runtime/process/errors';
import { afterEach, expect, test, vi } from 'vitest';
import { ownStopwatch } from '../../../../test/support/own-time.ts';
import { type ServedGateway, type ServedOptions, serveGateway } from '../../testing/served-gateway.ts';

let gateway: ServedGateway;
afterEach(() => gateway.close());

async function serve(answers: ServedOptions['answers'] = {}, options: ServedOptions = {}): Promise<void> {
  gateway = await serveGateway({ ...options, answers });
}

const bearer = { authorization: 'Bearer aaa.bbb.ccc' };

test.each([
  ['events', '/api/events?limit=1', []],
  ['one event with its designs', '/api/events/ZXZlbnQ/designs', ['ZXZlbnQ']],
])(
  'a list of %s is what design-catalog sends, byte for byte, wherever it is cut',
  async (_list, path, ids) => {
    const json = `{"items":[{"name":"Größe \u2028 \ud83d\ude00 ${'x'.repeat(100_000)}"}], "kept": [1.0]}`;
    const bytes = Buffer.from(json);
    const asked: string[] = [];
    async function* parts() {
      for (let start = 0; start < bytes.length; start += 997)
        yield { body: bytes.subarray(start, start + 997) };
    }
    const listDesigns = ({ eventId }: { readonly eventId: string }) => {
      asked.push(eventId);
      return parts();
    };
    await serve({ listEvents: parts, listDesigns });
    const answer = await fetch(`${gateway.origin}${path}`, { headers: bearer });
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(answer.headers.get('content-length')).toBe(String(bytes.length));
    expect(await answer.text()).toBe(json);
    expect(asked).toEqual(ids);
  },
);

test('the token goes on as it came; what cannot be one goes nowhere (R20.5, R21.1)', async () => {
  const seen: (string | undefined)[] = [];
  await serve({
    getUserInfo: async (_request, { bearer: token }) => {
      seen.push(token);
      throw new Failure('invalid_token');
    },
  });
  const challenges: (string | null)[] = [];
  for (const authorization of ['bearer  a.b.c', 'Bearer a b', 'Basic abc', 'Bearer \u00e9']) {
    const answer = await fetch(`${gateway.origin}/userinfo?access_token=x`, { headers: { authorization } });
    challenges.push(answer.headers.get('www-authenticate'));
  }
  expect(seen).toEqual(['a.b.c', undefined, undefined, undefined]);
  const refused = 'Bearer error="invalid_token"';
  expect(challenges).toEqual([refused, refused, 'Bearer', refused]);
});

test('user-info answers POST by the header, whatever a body is that is no form (R26)', async () => {
  await serve();
  const headers = { ...bearer, 'content-type': ';;' };
  const body = 'x'.repeat(200_000);
  expect((await fetch(`${gateway.origin}/userinfo`, { method: 'POST', headers, body })).status).toBe(200);
});

test('a token request is handed on as it came, the query string is not (R7.6)', async () => {
  const seen: unknown[] = [];
  await serve({
    exchangeToken: async ({ $typeName: _type, ...fields }) => {
      seen.push(fields);
      return { accessToken: 'a', refreshToken: 'r', expiresIn: 900, scope: 'email' };
    },
  });
  const answer = await fetch(`${gateway.origin}/token?grant_type=x&client_id=y`, {
    method: 'POST',
    headers: { authorization: 'Basic eDp5' },
    body: new URLSearchParams('code=1&code=2&grant_type=refresh_token&state=ä'),
  });
  expect(seen).toEqual([
    expect.objectContaining({
      authorization: 'Basic eDp5',
      grantType: 'refresh_token',
      clientId: '',
      repeatedParameters: ['code'],
    }),
  ]);
  expect(await answer.json()).toEqual({
    access_token: 'a',
    token_type: 'Bearer',
    expires_in: 900,
    refresh_token: 'r',
    scope: 'email',
  });
});

test('of 1,000 parameters only known names go on; more are refused like other malformed forms (R1.9, R7.5, R6.4)', async () => {
  const seen: (readonly string[])[] = [];
  await serve({
    exchangeToken: async ({ repeatedParameters }) => {
      seen.push(repeatedParameters);
      throw new Failure('invalid_grant');
    },
    beginAuthorization: async ({ repeatedParameters, notUtf8Parameters }) => {
      seen.push(repeatedParameters, notUtf8Parameters);
      throw new Failure('invalid_client');
    },
  });
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const posts = ['/authorize', '/token', '/userinfo', '/login', '/consent', '/sign-out'];
  const ask = async (body: string) => {
    const paths = posts.map((path) => gateway.ask('POST', path, form, body));
    const all = await Promise.all([gateway.ask('GET', `/authorize?${body}`), ...paths]);
    return all.map(({ status, body }) => [status, /"error":"(\w+)"/.exec(body)?.[1]]);
  };
  const unknown = 'n=%ff&n=&'.repeat(499);
  await ask(`${unknown}scope=%ff&scope=`);
  expect(seen).toEqual(Array(5).fill(['scope']));
  const [json, page] = [
    [400, 'invalid_request'],
    [400, undefined],
  ];
  expect(await ask(`${unknown}scope=%ff&scope=&x=`)).toEqual([json, json, json, json, page, page, page]);
  expect(seen).toHaveLength(5);
});

test('another content type is refused without asking identity (R7.5), an oversized body too', async () => {
  const exchangeToken = vi.fn(() => Promise.reject(new Failure('invalid_grant')));
  await serve({ exchangeToken });
  const ask = (headers: Record<string, string>, body: string) =>
    fetch(`${gateway.origin}/token`, { method: 'POST', headers, body });
  const refused = [400, '{"error":"invalid_request"}'];
  for (const type of ['application/json', 'text/plain', 'multipart/form-data; boundary=x', ';;']) {
    const answer = await ask({ 'content-type': type }, 'grant_type=x');
    expect([answer.status, await answer.text()]).toEqual(refused);
  }
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const large = await ask(form, 'a'.repeat(100_000));
  expect([large.status, await large.text()]).toEqual(refused);
  expect(large.headers.get('cache-control')).toBe('no-store');
  expect(exchangeToken).not.toHaveBeenCalled();
});

test('an unforeseen error is a server_error without its text [R14.6]', async () => {
  await serve({
    getUserInfo: async () => {
      throw new Error('password=canary');
    },
  });
  const answer = await fetch(`${gateway.origin}/userinfo`, { headers: bearer });
  expect([answer.status, await answer.text()]).toEqual([500, '{"error":"server_error"}']);
});

test('a service that does not answer is 503 within the budget (R14.1, R14.2)', async () => {
  await serve({ getUserInfo: () => new Promise<never>(() => {}) }, { budgetMs: 1_800 });
  const elapsed = ownStopwatch();
  const silent = await fetch(`${gateway.origin}/userinfo`, { headers: bearer });
  expect([silent.status, silent.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^[1-5]$/)]);
  expect(elapsed()).toBeLessThan(2_000);
});
