// The resource API, user-info and the token endpoint against stand-ins on the wire: exactly the fields of
// specification §2 and §4, and what is handed on.
import { Failure } from '@course-exchange/runtime/failure';
import { afterEach, expect, test } from 'vitest';
import type { CannedAnswers } from '../../testing/canned-answers.ts';
import { type ServedGateway, serveGateway } from '../../testing/served-gateway.ts';

let gateway: ServedGateway;
afterEach(() => gateway.close());

async function serve(answers: Partial<CannedAnswers> = {}): Promise<void> {
  gateway = await serveGateway({ answers });
}

const bearer = { authorization: 'Bearer aaa.bbb.ccc' };

test('an event has exactly its fields, null where nothing is known', async () => {
  await serve();
  const answer = await fetch(`${gateway.origin}/api/events?limit=1`, { headers: bearer });
  expect(await answer.json()).toEqual({
    items: [
      {
        id: 'ZXZlbnQ',
        name: 'Autumn Show',
        startDate: '2026-09-01T00:00:00.000Z',
        endDate: null,
        updatedAt: null,
        designCount: 2,
      },
    ],
  });
});

test('a design has exactly its fields, null where nothing is known', async () => {
  await serve();
  const answer = await fetch(`${gateway.origin}/api/events/ZXZlbnQ/designs`, { headers: bearer });
  const body = (await answer.json()) as { event: object; items: object[] };
  expect(Object.keys(body)).toEqual(['event', 'items']);
  expect(body.items).toEqual([
    {
      id: 'd1',
      localId: null,
      eventId: 'ZXZlbnQ',
      title: 'Jump-off',
      eventName: 'Autumn Show',
      eventDate: null,
      updatedAt: null,
      authorName: null,
      shortDescr: '',
    },
  ]);
});

test('the token goes on as it came; what cannot be one goes nowhere (R20, R21)', async () => {
  const seen: (string | undefined)[] = [];
  await serve({
    getUserInfo: async (_request, { authorization }) => {
      seen.push(authorization);
      throw new Failure('invalid_token');
    },
  });
  const challenges: (string | null)[] = [];
  for (const authorization of ['bearer  a.b.c', 'Bearer a b', 'Basic abc', 'Bearer \u00e9']) {
    const answer = await fetch(`${gateway.origin}/userinfo?access_token=x`, { headers: { authorization } });
    challenges.push(answer.headers.get('www-authenticate'));
  }
  expect(seen).toEqual(['Bearer a.b.c', undefined, undefined, undefined]);
  const refused = 'Bearer error="invalid_token"';
  expect(challenges).toEqual([refused, refused, 'Bearer', refused]);
});

test('user-info answers POST by the header alone, whatever the body is (R26)', async () => {
  await serve();
  const body = 'x'.repeat(200_000);
  const answer = await fetch(`${gateway.origin}/userinfo`, {
    method: 'POST',
    headers: { ...bearer, 'content-type': ';;' },
    body,
  });
  expect(Object.keys((await answer.json()) as object)).toEqual(['sub', 'email', 'email_verified', 'name']);
});

test('a token request is handed on as it came, the query string is not (R7)', async () => {
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
      formEncoded: true,
    }),
  ]);
  expect(await answer.json()).toEqual({
    access_token: 'a',
    token_type: 'Bearer',
    expires_in: 900,
    refresh_token: 'r',
    scope: 'email',
  });
  expect([answer.headers.get('cache-control'), answer.headers.get('pragma')]).toEqual([
    'no-store',
    'no-cache',
  ]);
});

test('another content type is reported, an oversized body refused (R7)', async () => {
  const seen: boolean[] = [];
  await serve({
    exchangeToken: async ({ formEncoded }) => {
      seen.push(formEncoded);
      throw new Failure('invalid_request');
    },
  });
  const ask = (headers: Record<string, string>, body: string) =>
    fetch(`${gateway.origin}/token`, { method: 'POST', headers, body });
  for (const type of ['application/json', 'text/plain', 'multipart/form-data; boundary=x', ';;'])
    expect((await ask({ 'content-type': type }, 'grant_type=x')).status).toBe(400);
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const large = await ask(form, 'a'.repeat(100_000));
  expect([large.status, await large.text()]).toEqual([400, '{"error":"invalid_request"}']);
  expect(large.headers.get('cache-control')).toBe('no-store');
  expect(seen).toEqual([false, false, false, false]);
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

test('a service that is not there is 503 within the budget; discovery outlives it (R14)', async () => {
  let fails = false;
  await serve({
    getDiscovery: async () => {
      if (fails) throw new Failure('temporarily_unavailable');
      return { issuer: 'http://127.0.0.1' };
    },
    getUserInfo: () => new Promise(() => {}),
  });
  const discovery = `${gateway.origin}/.well-known/openid-configuration`;
  const fresh = await (await fetch(discovery)).text();
  fails = true;
  expect(await (await fetch(discovery)).text()).toBe(fresh);
  const begun = performance.now();
  const silent = await fetch(`${gateway.origin}/userinfo`, { headers: bearer });
  expect([silent.status, silent.headers.get('retry-after')]).toEqual([503, '1']);
  expect(performance.now() - begun).toBeLessThan(2_000);
});
