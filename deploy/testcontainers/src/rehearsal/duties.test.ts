// Each duty, broken by a few requests: the rehearsal names it and no other. The gateway behind the proxy is a stand-in.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { type DutyName, duties } from './duties.ts';
import { startRehearsalProxy } from './proxy.ts';
import { DutyBroken, rehearse } from './rehearse.ts';
import type { ScenarioName } from './scenarios.ts';

const bodies: Readonly<Record<string, object>> = {
  '/token': { access_token: 'access', refresh_token: 'next', id_token: 'a.b.c' },
  '/busy': { error: 'temporarily_unavailable' },
};
const gateway = createServer(async (request, response) => {
  const isBusy = Buffer.concat(await Array.fromAsync(request)).includes('busy');
  const headers = { location: 'http://partner/callback?code=a&state=b', 'retry-after': '0' };
  response.writeHead(isBusy ? 503 : request.url === '/authorize' ? 303 : 200, headers);
  response.end(JSON.stringify(bodies[isBusy ? '/busy' : `${request.url}`] ?? { items: [{}] }));
});
await once(gateway.listen(0, '127.0.0.1'), 'listening');
const proxy = await startRehearsalProxy(() => `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`);
afterAll(async () => {
  await proxy.stop();
  gateway.close();
});

/** A GET, or a POST of a form; what comes of it does not matter. */
const ask = (path: string, form?: Readonly<Record<string, string>>, more?: RequestInit) => () =>
  fetch(`http://127.0.0.1:${proxy.port}${path}`, {
    ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    ...{ redirect: 'manual', ...more },
  })
    .then((answer) => answer.text())
    .catch(() => undefined);
const read = (bearer: string) =>
  ask('/api/events', undefined, { headers: { authorization: `Bearer ${bearer}` } });
const refreshWith = (refresh_token: string, more?: RequestInit) =>
  ask('/token', { grant_type: 'refresh_token', refresh_token }, more);

/** Leaves once the gateway has the request. */
const leave = () => {
  const leaving = new AbortController();
  gateway.once('request', () => leaving.abort());
  return refreshWith('a', { signal: leaving.signal })();
};

const exchange = ask('/token', { grant_type: 'authorization_code', code: 'a' });
const [use, refresh, busy] = [read('access'), refreshWith('a'), refreshWith('busy')];
const [authorize, designs] = [ask('/authorize'), ask('/api/events/a/designs')];
const idToken = `.${Buffer.from('{"token_use":"id_token"}').toString('base64url')}.`;

const rows: readonly [DutyName, ScenarioName, readonly (() => Promise<unknown>)[]][] = [
  ['code-once', 'callback-twice', [exchange, exchange]],
  ['check-state', 'callback-other-state', [authorize, exchange]],
  ['stop-at-error', 'callback-error', [authorize, ask('/token', { grant_type: 'authorization_code' })]],
  ['id-token-signature', 'id-token-foreign-key', [exchange, use]],
  ['id-token-algorithm', 'id-token-hs256', [exchange, use]],
  ['id-token-issuer', 'id-token-issuer', [exchange, use]],
  ['id-token-audience', 'id-token-audience', [exchange, use]],
  ['id-token-nonce', 'id-token-nonce', [exchange, use]],
  ['id-token-expiry', 'id-token-expired', [exchange, use]],
  ['every-key', 'keys-rotated', [exchange]],
  ['identify-by-sub', 'email-changed', [exchange]],
  ['id-token-opens-nothing', 'many-events', [read(idToken)]],
  ['no-secret-in-urls', 'many-events', [ask('/api/events?access_token=a')]],
  ['one-refresh-at-a-time', 'consent-withdrawn', [() => Promise.all([refresh(), refresh()])]],
  ['replace-refresh-token', 'many-events', [use, refresh, refresh]],
  ['never-again', 'refresh-answer-lost', [refresh, refresh]],
  ['wait-for-answer', 'refresh-answer-slow', [leave]],
  ['wait-for-retry-after', 'refresh-unavailable', [refresh, refresh]],
  ['wait-for-retry-after', 'many-events', [use, busy, busy, busy]],
  ['start-new-flow', 'refresh-unavailable', [refresh, () => sleep(1_000), refresh, refresh]],
  ['start-new-flow', 'consent-withdrawn', [refresh, refresh]],
  ['refresh-once', 'access-token-refused', [use, use]],
  ['take-404-as-answer', 'event-gone', [designs, designs]],
];

test.each(rows)('%s is broken in %s', async (duty, scenario, steps) => {
  const error = await rehearse(proxy, scenario, async () => {
    for (const step of steps) await step();
  }).catch((broken: unknown) => broken);
  expect(error).toBeInstanceOf(DutyBroken);
  expect((error as DutyBroken).breaches.map((breach) => breach.duty)).toEqual([duty]);
});

test('each duty is shown broken, but for the one that no request shows', () => {
  const broken = new Set(rows.map(([duty]) => duty));
  expect(Object.keys(duties).filter((duty) => !broken.has(duty as DutyName))).toEqual(['whole-list']);
});

test('an idle connection is kept longer than a client keeps it, so that none is closed under a request', async () => {
  const { headers } = await fetch(`http://127.0.0.1:${proxy.port}/api/events`);
  expect(headers.get('keep-alive')).toBe('timeout=620');
});
