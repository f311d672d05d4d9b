// A grant is not consumed for an answer that its partner may not get any more: neither by a request that identity came to
// late, nor by a command that Redis came to late (decision 0025).
import { setTimeout as sleep } from 'node:timers/promises';
import { carryContextAcrossAwaits, withCall } from '@course-exchange/runtime/process/request-context';
import { context, ROOT_CONTEXT } from '@opentelemetry/api';
import { expect, test } from 'vitest';
import { createReplicas } from '../../services/identity/src/redis/replicas.ts';
import type { TokenDeps } from '../../services/identity/src/token/grant.ts';
import {
  addGrant,
  issueCode,
  outcomeOf,
  requestExchange,
  requestRefresh,
  useEndpoint,
} from './identity-grant.ts';

carryContextAcrossAwaits();
const { identity, redis, endpoint } = await useEndpoint();
const { partner, granted } = await addGrant(identity);

/** Its clock stands; the caller waits for so many milliseconds more. */
function withTimeLeft(leftMs: number): TokenDeps {
  const time = Date.now();
  return { ...endpoint, now: () => time, deadline: () => time + leftMs };
}

/** The same, and each command waits on its way. */
function slowly(deps: TokenDeps, waitMs: number): TokenDeps {
  const run: TokenDeps['redis']['run'] = async (...operation) => {
    await sleep(waitMs);
    return redis.run(...operation);
  };
  return { ...deps, redis: { ...deps.redis, run } };
}

const grants = [
  ['a refresh token', 'refresh'],
  ['an authorization code', 'exchange'],
] as const;

async function grantOf(kind: (typeof grants)[number][1]) {
  const code = await issueCode(redis, granted);
  if (kind === 'exchange') return (deps: TokenDeps) => outcomeOf(requestExchange(deps, partner, code));
  const { refreshToken } = await requestExchange(endpoint, partner, code);
  return (deps: TokenDeps) => outcomeOf(requestRefresh(deps, partner, refreshToken));
}

test.each(grants)(
  '%s is not consumed with less than 300 ms left, and good afterwards [R14.9]',
  async (_name, kind) => {
    const present = await grantOf(kind);
    expect(await present(withTimeLeft(299))).toBe('temporarily_unavailable');
    expect(await present(withTimeLeft(-1))).toBe('temporarily_unavailable');
    expect(await present(endpoint)).toBe('tokens');
  },
);

test('what replicas may take is left too [R14.9]', async () => {
  const present = await grantOf('refresh');
  const replicated = (leftMs: number): TokenDeps => ({
    ...withTimeLeft(leftMs),
    redis: { ...redis, replicas: createReplicas(1) },
  });
  expect(await present(replicated(799))).toBe('temporarily_unavailable');
  expect(await present(endpoint)).toBe('tokens');
});

test('no statement begins for a caller whose time is over [R14.7]', async () => {
  const statement = { name: 'one', text: 'select 1 as one' };
  const ask = (leftMs: number) =>
    context.with(withCall(ROOT_CONTEXT, 'request-1', Date.now() + leftMs), () =>
      identity.database.query(statement, []),
    );
  await expect(ask(-1)).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  expect(await ask(10_000)).toEqual([{ one: 1 }]);
});

test.each(grants)(
  '%s is not consumed by a command that reaches Redis too late [R14.9]',
  async (_name, kind) => {
    const present = await grantOf(kind);
    // Read at once; then 50 ms are left for a command that waits for 100.
    expect(await present(slowly(withTimeLeft(350), 100))).toBe('temporarily_unavailable');
    expect(await present(slowly(withTimeLeft(10_000), 100))).toBe('tokens');
  },
);

test.each(grants)(
  '%s is not consumed by a command that was given up meanwhile [R14.9]',
  async (_name, kind) => {
    const present = await grantOf(kind);
    const impatient = { ...withTimeLeft(10_000), redis: { ...redis, commandTimeoutMs: 350 } };
    expect(await present(slowly(impatient, 100))).toBe('temporarily_unavailable');
    expect(await present(endpoint)).toBe('tokens');
  },
);
