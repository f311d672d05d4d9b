// A grant is not consumed for an answer that its partner may not get any more: neither by a request that identity came to
// late, nor by a command that Redis came to late (decision 0025).
import { setTimeout as sleep } from 'node:timers/promises';
import { carryContextAcrossAwaits, withCall } from '@course-exchange/runtime/process/request-context';
import { context, ROOT_CONTEXT } from '@opentelemetry/api';
import { expect, test } from 'vitest';
import { createReplicas } from '../../services/identity/src/redis/replicas.ts';
import type { TokenDeps } from '../../services/identity/src/token/grant.ts';
import { outcomeOf, useEndpoint } from './identity-grant.ts';

carryContextAcrossAwaits();
const { identity, redis, deps, issue, exchange, refresh } = await useEndpoint();

/** Its clock stands; the caller waits for so many milliseconds more. */
function withTimeLeft(leftMs: number): TokenDeps {
  const time = Date.now();
  return { ...deps, now: () => time, deadline: () => time + leftMs };
}

/** The same, and each command waits on its way. */
function slowly(by: TokenDeps, waitMs: number): TokenDeps {
  const run: TokenDeps['redis']['run'] = async (...operation) => {
    await sleep(waitMs);
    return redis.run(...operation);
  };
  return { ...by, redis: { ...by.redis, run } };
}

/** The same, while a replica is to confirm. */
const replicated = (leftMs: number): TokenDeps => ({
  ...withTimeLeft(leftMs),
  redis: { ...redis, replicas: createReplicas(1) },
});
const impatient = () => ({ ...withTimeLeft(10_000), redis: { ...redis, commandTimeoutMs: 350 } });

async function grantOf(kind: string) {
  const code = await issue();
  if (kind === 'a code') return (by: TokenDeps) => outcomeOf(exchange(code, { by }));
  const { refreshToken } = await exchange(code);
  return (by: TokenDeps) => outcomeOf(refresh(refreshToken, { by }));
}

const tooLate: readonly (readonly [string, () => TokenDeps])[] = [
  ['with less than 300 ms left', () => withTimeLeft(299)],
  ['for a caller whose time is over', () => withTimeLeft(-1)],
  ['with less left than replicas may take', () => replicated(799)],
  // Read at once; then 50 ms are left for a command that waits for 100.
  ['by a command that reaches Redis too late', () => slowly(withTimeLeft(350), 100)],
  ['by a command that was given up meanwhile', () => slowly(impatient(), 100)],
];
const grants = ['a refresh token', 'a code'];

test.each(grants.flatMap((kind) => tooLate.map(([how, late]) => [kind, how, late] as const)))(
  '%s is not consumed %s, and good afterwards [R14.9]',
  async (kind, _how, late) => {
    const present = await grantOf(kind);
    expect(await present(late())).toBe('temporarily_unavailable');
    expect(await present(slowly(withTimeLeft(10_000), 100))).toBe('tokens');
  },
);

test('no statement begins for a caller whose time is over [R14.7]', async () => {
  const statement = { name: 'one', text: 'select 1 as one' };
  const ask = (leftMs: number) =>
    context.with(withCall(ROOT_CONTEXT, 'request-1', Date.now() + leftMs), () =>
      identity.database.query(statement, []),
    );
  await expect(ask(-1)).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  expect(await ask(10_000)).toEqual([{ one: 1 }]);
});
