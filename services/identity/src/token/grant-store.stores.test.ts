// The atomic steps of codes and refresh families: raced over separate connections, cut off at every point where the
// process can die, and too late for their caller (decision 0025). A death is staged by a store whose step never happens or
// whose answer never comes back.
import { setTimeout as sleep } from 'node:timers/promises';
import { carryContextAcrossAwaits, withCall } from '@course-exchange/runtime/process/request-context';
import { context, ROOT_CONTEXT } from '@opentelemetry/api';
import { expect, test } from 'vitest';
import { outcomeOf, useEndpoint } from '../../../../test/stores/identity-grant.ts';
import { serverOf } from '../../../../test/stores/redis-servers.ts';
import type { FamilyId } from '../ids.ts';
import type { RedisStore } from '../redis/connect.ts';
import { createReplicas } from '../redis/replicas.ts';
import type { TokenDeps } from './grant.ts';
import type { AuthorizationCode } from './grant-record.ts';
import {
  createAuthorizationCode,
  deleteGrant,
  grantKeys,
  readAuthorizationCode,
  revokeOnReplay,
} from './grant-store.ts';

carryContextAcrossAwaits();
const racers = 60;
const endpoint = await useEndpoint(racers);
const { identity, redis, stores, issue, exchange, refresh } = endpoint;
const racing = stores.map((store) => ({ ...endpoint.deps, redis: store }));

test(`exactly one of ${racers} exchanges of one code at once wins, the others are invalid_grant [R9.2 R9.3]`, async () => {
  const code = await issue();
  const outcomes = await Promise.all(racing.map((caller) => outcomeOf(exchange(code, { by: caller }))));
  expect(outcomes.filter((outcome) => outcome === 'tokens')).toHaveLength(1);
  expect(outcomes.filter((outcome) => outcome === 'invalid_grant')).toHaveLength(racers - 1);
});

test(`exactly one of ${racers} refreshes with one token at once wins and its successor lives [R11.2]`, async () => {
  const begun = await exchange(await issue());
  const answers = await Promise.allSettled(
    racing.map((caller) => refresh(begun.refreshToken, { by: caller })),
  );
  const won = answers.filter((answer) => answer.status === 'fulfilled');
  expect(won).toHaveLength(1);
  const successor = won[0]?.value.refreshToken ?? '';
  expect(await outcomeOf(refresh(successor))).toBe('tokens');
});

test('a code lives five minutes, and ten minutes after its issue nothing is remembered of a used one [R10.5 S3.code.4 S8.3 S3.code.1]', async () => {
  const code = await issue();
  const [codeKey, familyKey] = grantKeys(code.slice(0, 22) as FamilyId);
  const server = serverOf(redis);
  expect(Math.abs(300_000 - (await server.pttl(codeKey)))).toBeLessThan(10_000);
  // A hundred of its 300 s have passed.
  await server.expire(codeKey, 200);
  const expiry = await server.pexpiretime(codeKey);
  const begun = await exchange(code);
  // Redis counts what is left in whole seconds.
  const longer = (await server.pexpiretime(codeKey)) - expiry;
  expect(Math.abs(longer - 300_000)).toBeLessThanOrEqual(1_000);
  const hash = (await server.hget(codeKey, 'hash')) ?? '';
  expect(JSON.stringify(await server.hgetall(familyKey))).not.toContain(hash);
  await server.del(codeKey);
  expect(await outcomeOf(exchange(code))).toBe('invalid_grant');
  expect(await outcomeOf(refresh(begun.refreshToken))).toBe('tokens');
});

class Death extends Error {}

/** The endpoint of a process that dies at the store operation `name`: before it, or after its effect. */
function dyingAt(name: string, when: 'before' | 'after'): TokenDeps {
  const run: RedisStore['run'] = async (operation, key, work) => {
    if (operation === name && when === 'before') throw new Death(name);
    const result = await redis.run(operation, key, work);
    if (operation === name) throw new Death(name);
    return result;
  };
  return { ...endpoint.deps, redis: { ...redis, run } };
}

test.each([
  ['after', 'read authorization code', exchange, 'tokens'],
  ['before', 'exchange authorization code', exchange, 'tokens'],
  ['before', 'rotate refresh token', refresh, 'tokens'],
  ['after', 'rotate refresh token', refresh, 'invalid_grant'],
] as const)(
  'death %s "%s": the grant is still there, or was spent and is never accepted again [R9.1 R11.3 S3.refresh.6]',
  async (when, operation, present, then) => {
    const code = await issue();
    const grant = present === exchange ? code : (await exchange(code)).refreshToken;
    expect(await outcomeOf(present(grant, { by: dyingAt(operation, when) }))).toBe(`Error: ${operation}`);
    expect(await outcomeOf(present(grant))).toBe(then);
  },
);

test('death after the exchange, before the answer: the code is spent, and trying again revokes its family [R10.1]', async () => {
  const code = await issue();
  await outcomeOf(exchange(code, { by: dyingAt('exchange authorization code', 'after') }));
  const key = `rt:{${code.slice(0, 22)}}`;
  expect(await serverOf(redis).hexists(key, 'hash')).toBe(1);
  expect(await outcomeOf(exchange(code))).toBe('invalid_grant');
  expect(await serverOf(redis).hexists(key, 'hash')).toBe(0);
});

async function readCode(token: string): Promise<AuthorizationCode> {
  const code = await readAuthorizationCode(
    redis,
    token.slice(0, 22) as AuthorizationCode['familyId'],
    Date.now,
  );
  if (code === undefined) throw new Error('no code');
  return code;
}

test('a code that is created again after a lost answer is the same one (R6.7)', async () => {
  const token = await issue();
  const code = await readCode(token);
  expect(await createAuthorizationCode(redis, code)).toBe(false);
  await exchange(token);
  expect(await createAuthorizationCode(redis, code)).toBe(false);
  expect(await outcomeOf(exchange(token))).toBe('invalid_grant');
  expect(await createAuthorizationCode(redis, code)).toBe(false);
});

test('no token leaves without the answer of a replica that is asked for, and none is accepted twice (R14.1)', async () => {
  const alone = () => ({ ...endpoint.deps, redis: { ...redis, replicas: createReplicas(1) } });
  const [code, { refreshToken }] = [await issue(), await exchange(await issue())];
  expect(await outcomeOf(exchange(code, { by: alone() }))).toBe('temporarily_unavailable');
  expect(await outcomeOf(refresh(refreshToken, { by: alone() }))).toBe('temporarily_unavailable');
  await expect(issue({}, alone().redis)).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  expect(await outcomeOf(exchange(code))).toBe('invalid_grant');
  expect(await outcomeOf(refresh(refreshToken))).toBe('invalid_grant');
});

test.each([
  ['revoke on replay', revokeOnReplay],
  ['delete grant', deleteGrant],
] as const)(
  '"%s" is confirmed by a replica, or answered temporarily_unavailable (R14.1)',
  async (_name, step) => {
    const token = await issue();
    const code = await readCode(token);
    await exchange(token);
    const alone = { ...redis, replicas: createReplicas(1) };
    const by = { revoked: 'code_replayed', requestId: 'a request', at: Date.now() } as const;
    await expect(step(alone, code, by)).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  },
);

test('a sign-out in the millisecond of the login kills the grant; a login one later lives [R13.5]', async () => {
  const loggedInAt = Date.now() - 1_000;
  const issueAt = (at: number) => issue({ loggedInAt: at });
  const begun = await exchange(await issueAt(loggedInAt));
  const refreshed = await refresh((await exchange(await issueAt(loggedInAt))).refreshToken);
  const [code, later] = [await issueAt(loggedInAt), await issueAt(loggedInAt + 1)];
  const signOut = 'update users set signed_out_at = to_timestamp($2::float8 / 1000) where sub = $1';
  await identity.sql(signOut, [endpoint.granted.sub, loggedInAt]);
  expect(await outcomeOf(exchange(code))).toBe('invalid_grant');
  for (const { refreshToken } of [begun, refreshed])
    expect(await outcomeOf(refresh(refreshToken))).toBe('invalid_grant');
  expect(await outcomeOf(exchange(later))).toBe('tokens');
});

/** Its clock is stopped; the caller waits for this many milliseconds more. */
function withTimeLeft(leftMs: number, changes: Partial<RedisStore> = {}) {
  const time = Date.now();
  return { by: { ...endpoint.deps, now: () => time, redis: { ...redis, ...changes } }, leftMs };
}

/** The same, and each command waits on its way. */
function slowly({ by, leftMs }: Late, waitMs: number) {
  const run: RedisStore['run'] = async (...operation) => {
    await sleep(waitMs);
    return redis.run(...operation);
  };
  return { by: { ...by, redis: { ...by.redis, run } }, leftMs };
}

type Late = ReturnType<typeof withTimeLeft>;

/** The same, while a replica is to confirm. */
const replicated = (leftMs: number) => withTimeLeft(leftMs, { replicas: createReplicas(1) });
const impatient = () => withTimeLeft(10_000, { commandTimeoutMs: 350 });

async function grantOf(kind: string) {
  const code = await issue();
  if (kind === 'a code') return (late: Late) => outcomeOf(exchange(code, late));
  const { refreshToken } = await exchange(code);
  return (late: Late) => outcomeOf(refresh(refreshToken, late));
}

const tooLate: readonly (readonly [string, () => Late])[] = [
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
