// A user and a client have a bounded number of refresh families: which one an exchange ends, and what that never costs (R11.5).
import { setTimeout as sleep } from 'node:timers/promises';
import { carryContextAcrossAwaits } from '@course-exchange/runtime/process/request-context';
import { beforeEach, expect, test } from 'vitest';
import { openFamilyBound } from '../../../../test/stores/families.ts';
import {
  addGrant,
  asRequest,
  outcomeOf,
  recordRequests,
  refusalOf,
  useEndpoint,
} from '../../../../test/stores/identity-grant.ts';
import { serverOf } from '../../../../test/stores/redis-servers.ts';
import type { FamilyId } from '../ids.ts';
import type { RedisStore } from '../redis/connect.ts';
import type { FamilyBound } from './family-bound.ts';
import type { TokenDeps } from './grant.ts';
import { grantKeys } from './grant-store.ts';

carryContextAcrossAwaits();
const { log, told, metricsText } = await recordRequests();
const endpoint = await useEndpoint(6, log);
const { identity, redis, stores, issue, exchange, refresh } = endpoint;
const server = serverOf(redis);

const day = 86_400_000;
const clock = { now: Date.now() };
beforeEach(() => {
  clock.now = Date.now();
});

type Process = TokenDeps & { readonly families: FamilyBound };

/** A process whose users have at most `most` families with a client. */
function openProcess(most: number, store: RedisStore = redis): Process {
  const now = () => clock.now;
  const families = openFamilyBound(identity, store, { ...log, most, now });
  return { ...endpoint.deps, redis: store, families, now };
}

const familyOf = (token: string) => token.slice(0, 22) as FamilyId;
const keyOf = (token: string) => grantKeys(familyOf(token))[1];
const listKey = () => `rt:of:{${endpoint.granted.sub}}:${endpoint.granted.clientId}`;

async function begin(by: Process, requestId = 'exchange'): Promise<string> {
  clock.now += 1;
  const work = async () => exchange(await issue({ scopes: ['email'] }), { by });
  return (await asRequest(requestId, work, clock.now)).refreshToken;
}

async function beginMany(by: Process, count: number): Promise<readonly string[]> {
  const tokens = [];
  for (let n = 0; n < count; n += 1) tokens.push(await begin(by));
  return tokens;
}

async function rotate(token: string, by: Process): Promise<string> {
  clock.now += 1;
  return (await refresh(token, { by })).refreshToken;
}

/** Those that can be refreshed. */
async function aliveOf(tokens: readonly string[]): Promise<readonly string[]> {
  const alive = await Promise.all(tokens.map((token) => server.hexists(keyOf(token), 'hash')));
  return tokens.filter((_, index) => alive[index] === 1);
}

const settled = async ({ families }: Process) => {
  await sleep(10);
  await families.flush();
};

test('one family too many ends the oldest token of the ten that began first, after its own success [R11.5 R11.6]', async () => {
  const by = openProcess(20);
  const tokens = await beginMany(by, 20);
  await settled(by);
  expect(await aliveOf(tokens)).toHaveLength(20);
  // Of the first ten the fifth is refreshed first; the others have older tokens, and began later.
  const oldest = await rotate(tokens[4] ?? '', by);
  for (const token of [...tokens.slice(0, 4), ...tokens.slice(5, 10)]) await rotate(token, by);
  told();
  const next = await begin(by, 'one too many');
  await settled(by);
  expect(await aliveOf([...tokens, next])).toEqual([...tokens.slice(0, 4), ...tokens.slice(5), next]);
  expect(told()).toEqual([
    {
      event: 'grant.revoked',
      client: endpoint.partner.clientId,
      user: log.keyedUser(endpoint.granted.sub),
      reason: 'superseded',
    },
  ]);
  expect(await server.exists(keyOf(tokens[4] ?? ''))).toBe(0);
  expect(await server.llen(listKey())).toBe(20);
  expect(await refusalOf(refresh(oldest, { by }))).toEqual(['not_known', undefined]);
  const ended = { family_hash: log.keyedFamily(familyOf(tokens[4] ?? '')), request_id: 'one too many' };
  expect(
    await identity.sql('select * from superseded_families where client_id = $1', [endpoint.partner.clientId]),
  ).toEqual([expect.objectContaining({ ...ended, revoked: 'superseded' })]);
});

test('a family that is refreshed daily outlives 5,000 logins; another user and another client pay nothing [R11.5]', async () => {
  const by = openProcess(1_000);
  let daily = await begin(by);
  const before = { ...endpoint };
  Object.assign(endpoint, await addGrant(identity));
  const other = await begin(by);
  Object.assign(endpoint, { partner: before.partner, granted: before.granted });
  const logins: string[] = [];
  for (let n = 0; n < 25; n += 1) {
    logins.push(...(await Promise.all(Array.from({ length: 200 }, () => begin(by)))));
    await settled(by);
    clock.now += day;
    daily = await rotate(daily, by);
  }
  expect(await aliveOf([daily, other])).toEqual([daily, other]);
  const alive = await aliveOf(logins);
  expect(alive).toHaveLength(999);
  expect(alive).toEqual(expect.arrayContaining(logins.slice(-800)));
  const counter = `course_exchange_refresh_families_half_full_total{client_id="${before.partner.clientId}"}`;
  expect(await metricsText()).toContain(`${counter} ${5_001 - 499}\n`);
}, 600_000);

test('exchanges at once, by several processes, end as many as they begin [R11.5]', async () => {
  const processes = stores.map((store) => openProcess(20, store));
  const tokens = await Promise.all(
    Array.from({ length: 120 }, (_, n) => begin(processes[n % processes.length] ?? expect.fail())),
  );
  await Promise.all(processes.map(settled));
  expect(await aliveOf(tokens)).toHaveLength(20);
  expect(await server.llen(listKey())).toBe(20);
});

test('families whose codes are replayed are the first to go, and leave why they were revoked [R11.5 R11.6]', async () => {
  const by = openProcess(20);
  const kept = await beginMany(by, 12);
  const codes = [];
  const replayed = [];
  for (let n = 0; n < 60; n += 1) {
    const code = await issue({ scopes: ['email'] });
    clock.now += 1;
    replayed.push((await exchange(code, { by })).refreshToken);
    codes.push(code);
    expect(await asRequest('replay', () => outcomeOf(exchange(code, { by })), clock.now)).toBe(
      'invalid_grant',
    );
    await settled(by);
  }
  expect(await aliveOf([...kept, ...replayed])).toEqual(kept);
  const keys = await Promise.all([...kept, ...replayed].map((token) => server.exists(keyOf(token))));
  expect(keys.filter((exists) => exists === 1)).toHaveLength(20);
  // What was ended does not come back.
  const [gone = expect.fail()] = [...replayed.keys()].filter((n) => keys[n + kept.length] === 0);
  expect(await outcomeOf(exchange(codes[gone] ?? '', { by }))).toBe('invalid_grant');
  expect(await server.exists(keyOf(replayed[gone] ?? ''))).toBe(0);
  const ended = await identity.sql(
    'select revoked, request_id from superseded_families where client_id = $1',
    [endpoint.partner.clientId],
  );
  expect(ended).toHaveLength(52);
  expect(new Set(ended.map(({ revoked, request_id }) => `${revoked} ${request_id}`))).toEqual(
    new Set(['code_replayed replay']),
  );
});

test.each(['gone', 'expired'] as const)(
  'no connection in use ends while another one is %s, wherever it is in the list [R11.5]',
  async (state) => {
    const by = openProcess(100);
    const used = await beginMany(by, 12);
    const unused = await beginMany(by, 88);
    if (state === 'gone') for (const token of unused) await server.del(keyOf(token));
    clock.now += 31 * day;
    for (const token of used) await server.hset(keyOf(token), 'issued_at', clock.now);
    const fresh = await beginMany(by, 5);
    await settled(by);
    expect(await aliveOf([...used, ...fresh])).toEqual([...used, ...fresh]);
    expect(await server.llen(listKey())).toBeLessThanOrEqual(100);
    // What expired is still explained by its own key.
    expect(await server.exists(keyOf(unused[0] ?? ''))).toBe(state === 'gone' ? 0 : 1);
  },
);

test('a refresh between the choice and the end keeps its family, and no refresh ends any', async () => {
  const refreshing = { token: '' };
  const run: RedisStore['run'] = async (operation, ...rest) => {
    const { token } = refreshing;
    refreshing.token = '';
    if (operation !== 'end families') refreshing.token = token;
    else if (token) await rotate(token, openProcess(20));
    return redis.run(operation, ...rest);
  };
  const by = openProcess(20, { ...redis, run });
  const tokens = await beginMany(by, 20);
  refreshing.token = tokens[0] ?? '';
  const next = await begin(by);
  await settled(by);
  expect(await aliveOf([...tokens, next])).toHaveLength(21);
  const successor = await rotate(next, by);
  await settled(by);
  expect(await aliveOf(tokens)).toHaveLength(20);
  expect(await outcomeOf(refresh(successor, { by }))).toBe('tokens');
});

test('an exchange waits for no list, and succeeds without one [R11.5]', async () => {
  const commands: string[] = [];
  const run: RedisStore['run'] = (operation, ...rest) => {
    commands.push(operation);
    return operation === 'list families' ? Promise.reject(new Error('down')) : redis.run(operation, ...rest);
  };
  const by = openProcess(20, { ...redis, run });
  const token = await begin(by);
  expect(commands).toEqual(['read authorization code', 'exchange authorization code']);
  await settled(by);
  expect(commands).toContain('list families');
  expect(await aliveOf([token])).toHaveLength(1);
  expect(await server.exists(listKey())).toBe(0);
});

test('a bound that was lowered is reached by and by: ten for an exchange', async () => {
  const tokens = await beginMany(openProcess(1_000), 60);
  const by = openProcess(20);
  const alive = [];
  for (let n = 0; n < 6; n += 1) {
    tokens.with(0, await begin(by));
    await settled(by);
    alive.push(await server.llen(listKey()));
  }
  expect(alive).toEqual([51, 42, 33, 24, 20, 20]);
});
