// Every point at which the process can die between two steps of a token request, by name, and what holds
// after it. A death is staged by a store whose step never happens or whose answer never comes back.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TokenEndpoint } from '../../services/identity/src/grants/token-endpoint.ts';
import {
  type AuthorizationCode,
  createAuthorizationCode,
  readAuthorizationCode,
} from '../../services/identity/src/store/redis/authorization-codes.ts';
import type { ReplicatedStore } from '../../services/identity/src/store/redis/replication.ts';
import {
  addConsent,
  addPartner,
  addUser,
  issueCode,
  openEndpoint,
  outcomeOf,
  type Partner,
  requestExchange,
  requestRefresh,
} from './identity-grant.ts';
import { type IdentityDatabase, openIdentityDatabase, openRedis, serverOf } from './identity-stores.ts';

let identity: IdentityDatabase;
let redis: ReplicatedStore;
let endpoint: TokenEndpoint;
let partner: Partner;
let issue: () => Promise<string>;

beforeAll(async () => {
  identity = await openIdentityDatabase();
  [redis] = (await openRedis()) as [ReplicatedStore];
  endpoint = await openEndpoint(identity, redis);
  partner = await addPartner(identity);
  const sub = await addUser(identity);
  const consentId = await addConsent(identity, sub, partner.clientId);
  issue = () => issueCode(redis, { sub, consentId, clientId: partner.clientId });
});
afterAll(async () => {
  await redis.close();
  await identity.close();
});

class Death extends Error {}

/** The endpoint of a process that dies at the store operation `name`: before it, or after its effect. */
function dyingAt(name: string, when: 'before' | 'after'): TokenEndpoint {
  const run: ReplicatedStore['run'] = async (operation, key, work) => {
    if (operation === name && when === 'before') throw new Death(name);
    const result = await redis.run(operation, key, work);
    if (operation === name) throw new Death(name);
    return result;
  };
  return { ...endpoint, redis: { ...redis, run } };
}

const never = 'Error: exchange authorization code';

test('death after the code was read: it is still there', async () => {
  const code = await issue();
  await outcomeOf(requestExchange(dyingAt('read authorization code', 'after'), partner, code));
  expect(await outcomeOf(requestExchange(endpoint, partner, code))).toBe('tokens');
});

test('death after signing, before the exchange: the code is still there [R9.1]', async () => {
  const code = await issue();
  const died = await outcomeOf(
    requestExchange(dyingAt('exchange authorization code', 'before'), partner, code),
  );
  expect(died).toBe(never);
  expect(await outcomeOf(requestExchange(endpoint, partner, code))).toBe('tokens');
});

test('death after the exchange, before the answer: the code is spent, and trying again revokes its family [R10.1]', async () => {
  const code = await issue();
  await outcomeOf(requestExchange(dyingAt('exchange authorization code', 'after'), partner, code));
  const key = `rt:{${code.slice(0, 22)}}`;
  expect(await serverOf(redis).exists(key)).toBe(1);
  expect(await outcomeOf(requestExchange(endpoint, partner, code))).toBe('invalid_grant');
  expect(await serverOf(redis).exists(key)).toBe(0);
});

test('death after signing, before the rotation: the refresh token is still current', async () => {
  const { refreshToken } = await requestExchange(endpoint, partner, await issue());
  await outcomeOf(requestRefresh(dyingAt('rotate refresh token', 'before'), partner, refreshToken));
  expect(await outcomeOf(requestRefresh(endpoint, partner, refreshToken))).toBe('tokens');
});

test('death after the rotation, before the answer: the old token is never accepted again [R11.3 S3.refresh.6]', async () => {
  const { refreshToken } = await requestExchange(endpoint, partner, await issue());
  await outcomeOf(requestRefresh(dyingAt('rotate refresh token', 'after'), partner, refreshToken));
  expect(await outcomeOf(requestRefresh(endpoint, partner, refreshToken))).toBe('invalid_grant');
});

async function readCode(token: string): Promise<AuthorizationCode> {
  const code = await readAuthorizationCode(redis, token.slice(0, 22) as AuthorizationCode['family']);
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

test('lifetimes: a code lives 5 minutes, a family 30 days from each rotation (specification §3)', async () => {
  const token = await issue();
  const family = token.slice(0, 22);
  expect(await serverOf(redis).ttl(`code:{${family}}`)).toBeGreaterThan(295);
  expect(await serverOf(redis).ttl(`code:{${family}}`)).toBeLessThanOrEqual(300);
  const { refreshToken } = await requestExchange(endpoint, partner, token);
  await serverOf(redis).expire(`rt:{${family}}`, 100);
  await requestRefresh(endpoint, partner, refreshToken);
  expect(await serverOf(redis).ttl(`rt:{${family}}`)).toBeGreaterThan(30 * 86_400 - 10);
});

test('where a replica is asked for and does not answer, no token leaves, and none is accepted twice (R14)', async () => {
  const alone = { ...endpoint, redis: { ...redis, minReplicas: 1 } };
  const { refreshToken } = await requestExchange(endpoint, partner, await issue());
  expect(await outcomeOf(requestRefresh(alone, partner, refreshToken))).toBe('temporarily_unavailable');
  expect(await outcomeOf(requestRefresh(endpoint, partner, refreshToken))).toBe('invalid_grant');
});
