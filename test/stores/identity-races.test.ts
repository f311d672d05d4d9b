// The atomic steps of codes and refresh families: raced over connections of their own, and cut off at every point where
// the process can die. A death is staged by a store whose step never happens or whose answer never comes back.
import { expect, test } from 'vitest';
import type { FamilyId } from '../../services/identity/src/ids.ts';
import type { RedisStore } from '../../services/identity/src/redis/connect.ts';
import { createReplicas } from '../../services/identity/src/redis/replicas.ts';
import type { TokenDeps } from '../../services/identity/src/token/grant.ts';
import {
  type AuthorizationCode,
  createAuthorizationCode,
  grantKeys,
  readAuthorizationCode,
} from '../../services/identity/src/token/grant-store.ts';
import {
  addGrant,
  issueCode,
  outcomeOf,
  requestExchange,
  requestRefresh,
  useEndpoint,
} from './identity-grant.ts';
import { serverOf } from './redis-servers.ts';

const racers = 60;
const { identity, redis, stores, endpoint } = await useEndpoint(racers);
const endpoints = stores.map((store) => ({ ...endpoint, redis: store }));
const { partner, granted } = await addGrant(identity);
const issue = () => issueCode(redis, granted);

test(`of ${racers} exchanges of one code at once exactly one wins, the others are invalid_grant [R9.2 R9.3]`, async () => {
  const code = await issue();
  const outcomes = await Promise.all(
    endpoints.map((caller) => outcomeOf(requestExchange(caller, partner, code))),
  );
  expect(outcomes.filter((outcome) => outcome === 'tokens')).toHaveLength(1);
  expect(outcomes.filter((outcome) => outcome === 'invalid_grant')).toHaveLength(racers - 1);
});

test(`of ${racers} refreshes with one token at once exactly one wins and its successor lives [R11.2]`, async () => {
  const begun = await requestExchange(endpoint, partner, await issue());
  const answers = await Promise.allSettled(
    endpoints.map((caller) => requestRefresh(caller, partner, begun.refreshToken)),
  );
  const won = answers.filter((answer) => answer.status === 'fulfilled');
  expect(won).toHaveLength(1);
  const successor = won[0]?.value.refreshToken ?? '';
  expect(await outcomeOf(requestRefresh(endpoint, partner, successor))).toBe('tokens');
});

test('ten minutes after its issue nothing is remembered of a used code [R10.5]', async () => {
  const code = await issue();
  const [codeKey, familyKey] = grantKeys(code.slice(0, 22) as FamilyId);
  const server = serverOf(redis);
  // Of its 300 s a hundred have passed.
  await server.expire(codeKey, 200);
  const expiry = await server.pexpiretime(codeKey);
  const begun = await requestExchange(endpoint, partner, code);
  // Redis counts what is left in whole seconds.
  const longer = (await server.pexpiretime(codeKey)) - expiry;
  expect(Math.abs(longer - 300_000)).toBeLessThanOrEqual(1_000);
  const hash = (await server.hget(codeKey, 'hash')) ?? '';
  expect(JSON.stringify(await server.hgetall(familyKey))).not.toContain(hash);
  await server.del(codeKey);
  expect(await outcomeOf(requestExchange(endpoint, partner, code))).toBe('invalid_grant');
  expect(await outcomeOf(requestRefresh(endpoint, partner, begun.refreshToken))).toBe('tokens');
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
  return { ...endpoint, redis: { ...redis, run } };
}

const exchange = (by: TokenDeps, code: string) => outcomeOf(requestExchange(by, partner, code));
const refresh = (by: TokenDeps, token: string) => outcomeOf(requestRefresh(by, partner, token));

test.each([
  ['after', 'read authorization code', exchange, 'tokens'],
  ['before', 'exchange authorization code', exchange, 'tokens'],
  ['before', 'rotate refresh token', refresh, 'tokens'],
  ['after', 'rotate refresh token', refresh, 'invalid_grant'],
] as const)(
  'death %s "%s": the grant is still there, or was spent and is never accepted again [R9.1 R11.3 S3.refresh.6]',
  async (when, operation, present, then) => {
    const code = await issue();
    const grant = present === exchange ? code : (await requestExchange(endpoint, partner, code)).refreshToken;
    expect(await present(dyingAt(operation, when), grant)).toBe(`Error: ${operation}`);
    expect(await present(endpoint, grant)).toBe(then);
  },
);

test('death after the exchange, before the answer: the code is spent, and trying again revokes its family [R10.1]', async () => {
  const code = await issue();
  await outcomeOf(requestExchange(dyingAt('exchange authorization code', 'after'), partner, code));
  const key = `rt:{${code.slice(0, 22)}}`;
  expect(await serverOf(redis).exists(key)).toBe(1);
  expect(await outcomeOf(requestExchange(endpoint, partner, code))).toBe('invalid_grant');
  expect(await serverOf(redis).exists(key)).toBe(0);
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

test('a code that is created again after a lost answer is the same one, while it is there and after its exchange (R6)', async () => {
  const token = await issue();
  const code = await readCode(token);
  expect(await createAuthorizationCode(redis, code)).toBe(false);
  await requestExchange(endpoint, partner, token);
  expect(await createAuthorizationCode(redis, code)).toBe(false);
  expect(await outcomeOf(requestExchange(endpoint, partner, token))).toBe('invalid_grant');
  expect(await createAuthorizationCode(redis, code)).toBe(false);
});

test('where a replica is asked for and does not answer, no token leaves, and none is accepted twice (R14)', async () => {
  const alone = { ...endpoint, redis: { ...redis, replicas: createReplicas(1) } };
  const { refreshToken } = await requestExchange(endpoint, partner, await issue());
  expect(await outcomeOf(requestRefresh(alone, partner, refreshToken))).toBe('temporarily_unavailable');
  await expect(issueCode(alone.redis, granted)).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  expect(await outcomeOf(requestRefresh(endpoint, partner, refreshToken))).toBe('invalid_grant');
});

test('a sign-out in the same millisecond as the login kills the grant; a login one later lives [R13.5]', async () => {
  const { partner: by, granted: grant } = await addGrant(identity);
  const loggedInAt = Date.now();
  const issueAt = (at: number) => issueCode(redis, { ...grant, loggedInAt: at });
  const begun = await requestExchange(endpoint, by, await issueAt(loggedInAt));
  const [code, later] = [await issueAt(loggedInAt), await issueAt(loggedInAt + 1)];
  const signOut = 'update users set signed_out_at = to_timestamp($2::float8 / 1000) where sub = $1';
  await identity.sql(signOut, [grant.sub, loggedInAt]);
  expect(await outcomeOf(requestExchange(endpoint, by, code))).toBe('invalid_grant');
  expect(await outcomeOf(requestRefresh(endpoint, by, begun.refreshToken))).toBe('invalid_grant');
  expect(await outcomeOf(requestExchange(endpoint, by, later))).toBe('tokens');
});
