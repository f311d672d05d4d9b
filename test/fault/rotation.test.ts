// A rotation of both signing keys under three identity processes and a gateway that balances over them, while tokens
// are refreshed without pause. The rotation's waits (310 s staged, 960 s superseded) are not waited for: the keys' rows
// in Postgres are made older by SQL. That every pod follows within 10 s is real time.
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@connectrpc/connect';
import { AuditService } from '@course-exchange/proto/operator/v1/audit';
import { KeyAlgorithm, KeyService, KeyState } from '@course-exchange/proto/operator/v1/key';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callService } from '../support/grpc-client.ts';
import { send } from '../support/http.ts';
import { type System, startSystem } from '../support/system.ts';
import { type AgedClock, openAgedClock } from './aged-clock.ts';
import { type Look, openHeldKeySets, watchKeySets } from './key-sets.ts';
import { signsWith, startTraffic, type Traffic } from './token-traffic.ts';
import { ended, killed, startTool } from './tool.ts';

/** Milliseconds. */
const followTime = 10_000;

let system: System;
let database: pg.Client;
let clock: AgedClock;

beforeAll(async () => {
  system = await startSystem({}, { identities: 3 });
  // Else a disk that is slow for a second fails a refresh, rightly (R14).
  const redis = new Redis(`${system.stack.redis}`);
  await redis.config('SET', 'appendfsync', 'everysec');
  redis.disconnect();
  database = new pg.Client({
    connectionString: system.stack.postgres,
    options: '-c search_path=identity',
  });
  database.on('error', () => {});
  await database.connect();
  clock = openAgedClock(database);
});
afterAll(async () => {
  await database?.end();
  await system?.stop();
});

/** The operator port of the pod with this number. */
function keyService(pod: number): Client<typeof KeyService> {
  return callService(KeyService, `${system.pods[pod]?.operator}`);
}

/** The kids of the keys in this state, ES256 before RS256. */
async function kidsIn(state: KeyState): Promise<readonly string[]> {
  const { keys } = await keyService(0).listKeys({ includeRetired: true });
  return [KeyAlgorithm.ES256, KeyAlgorithm.RS256].flatMap((algorithm) =>
    keys.filter((key) => key.algorithm === algorithm && key.state === state).map(({ kid }) => kid),
  );
}

/**
 * How many milliseconds after `since` each pod was found to have followed; rejects when one that was asked after a follow
 * time has not. However long an answer takes that was asked for before: what it shows is of then.
 */
async function followTimes(
  since: number,
  lookAt: (pod: string) => Look,
): Promise<Readonly<Record<string, number>>> {
  const times = new Map<string, number>();
  for (; times.size < system.pods.length; await sleep(10)) {
    if (performance.now() - since > 60_000) throw new Error('A pod was not asked any more.');
    for (const { name } of system.pods) {
      const { at, isThere } = lookAt(name);
      if (!times.has(name) && isThere) times.set(name, Math.round(performance.now() - since));
      if (!times.has(name) && at - since > followTime) throw new Error(`${name} has not followed in 10 s.`);
    }
  }
  return Object.fromEntries(times);
}

test('tokens are issued by every pod without a failure, and each verifies with every key set held meanwhile', async () => {
  const sets = openHeldKeySets();
  const [watch, traffic] = [await watchKeySets(system, clock, sets), await startTraffic(system, clock)];
  const shows = (kids: readonly string[]) => (pod: string) => watch.shows(pod, kids);
  const old = await kidsIn(KeyState.ACTIVE);
  await followTimes(performance.now(), (pod) => signsWith(traffic, pod, old));

  // Staged, by one pod.
  const stagedAt = performance.now();
  await keyService(0).rotateKeys({});
  const fresh = await kidsIn(KeyState.STAGED);
  expect(fresh).toHaveLength(2);
  const staged = await followTimes(stagedAt, shows([...old, ...fresh]));
  // Sets fetched now are as old as a client may hold when the new keys begin to sign, and a little later.
  await clock.ageUntil('published_at', 20);
  await sleep(1_000);
  await clock.ageUntil('published_at', 308);
  for (const kid of fresh) await expect(keyService(1).activateKey({ kid })).rejects.toThrow();
  expect((await keyService(1).rotateKeys({})).changes).toEqual([]);
  expect(traffic.issued.some(({ kid }) => fresh.includes(kid))).toBe(false);

  // Activated, by another one.
  await clock.ageUntil('published_at', 310);
  const activatedAt = performance.now();
  await keyService(1).rotateKeys({ continueOnly: true });
  expect(await kidsIn(KeyState.ACTIVE)).toEqual(fresh);
  const activated = await followTimes(activatedAt, (pod) => signsWith(traffic, pod, fresh));
  // Long enough for each pod to have read the keys anew while the last token of the old ones may live.
  await clock.ageUntil('superseded_at', 900);
  await sleep(5_500);
  for (const { name } of system.pods)
    expect([name, shows([...old, ...fresh])(name).isThere]).toEqual([name, true]);
  for (const kid of old) await expect(keyService(2).retireKey({ kid })).rejects.toThrow();

  // Retired, by the third.
  await clock.ageUntil('superseded_at', 960);
  const retiredAt = performance.now();
  await keyService(2).rotateKeys({ continueOnly: true });
  expect(await kidsIn(KeyState.RETIRED)).toEqual(old);
  const retired = await followTimes(retiredAt, shows(fresh));
  await expect.poll(() => eventsStatus(traffic), { timeout: 5_000, interval: 250 }).toBe(200);
  await Promise.all([traffic.stop(), watch.stop()]);

  const oldest = new Map<string, number>();
  for (const token of traffic.issued)
    oldest.set(token.kid, Math.max(oldest.get(token.kid) ?? 0, await sets.verify(token)));
  // The new keys' first tokens met sets that were as old as a client may hold them.
  for (const kid of fresh) expect(oldest.get(kid)).toBeGreaterThan(285);
  expectOneTurn(traffic, old, fresh);
  expectAllPodsBalanced(traffic);
  const [tokens, userInfos] = [traffic.issued.length, traffic.userInfos()];
  console.log(`figure: rotation followed after ms ${JSON.stringify({ staged, activated, retired })}`);
  console.log(`figure: ${tokens} tokens verified, ${userInfos} read at user-info, none failed`);
});

/** What the catalog, which balances over the pods for its key set, answers to the newest access token. */
async function eventsStatus({ issued }: Traffic): Promise<number> {
  const bearer = `Bearer ${issued.findLast(({ kind }) => kind === 'access')?.jwt}`;
  const answer = await send(`${system.stack.issuer}/api/events`, { headers: { authorization: bearer } });
  return answer.status;
}

/** A pod that signs with a new key never goes back, and no other key ever signed. */
function expectOneTurn({ issued }: Traffic, old: readonly string[], fresh: readonly string[]): void {
  for (const { name } of system.pods)
    for (const [index, kind] of (['access', 'id'] as const).entries()) {
      const kids = issued.filter((token) => token.pod === name && token.kind === kind).map(({ kid }) => kid);
      const turns = kids.filter((kid, place) => kid !== kids[place - 1]);
      expect([name, kind, ...turns]).toEqual([name, kind, old[index], fresh[index]]);
    }
}

/** Each pod's log tells of more tokens than were asked of the pod itself: the gateway came to it, too. */
function expectAllPodsBalanced({ issued }: Traffic): void {
  for (const { name, logFile } of system.pods) {
    const logged = readFileSync(logFile, 'utf8').split('"tokens issued"').length - 1;
    const direct = new Set(issued.filter(({ pod }) => pod === name).map(({ asked }) => asked)).size;
    expect(logged - direct).toBeGreaterThan(50);
  }
}

/** `partnerctl key rotate` at the operator port of the pod with this number. */
function startRotate(pod: number, ...words: readonly string[]): ChildProcess {
  return startTool('key', 'rotate', '--identity', `${system.pods[pod]?.operator}`, ...words);
}

/** How many entries the audit log has of each action. */
async function entries(): Promise<Readonly<Record<string, number>>> {
  const { rows } = await database.query(
    'select action, count(*)::integer as count from audit_log group by action',
  );
  return Object.fromEntries(rows.map(({ action, count }) => [action, count]));
}

/** Calls that wait until the keys are not locked any more. */
async function waitingCalls(): Promise<number> {
  const { rows } = await database.query(
    `select count(*)::integer as count from pg_locks where locktype = 'advisory' and not granted`,
  );
  return rows[0]?.count;
}

/**
 * Two callers, each at a pod of its own, both held up in the middle of their call; `kill` says which of them die there.
 * Who is left goes on, and dies when the step is done.
 */
async function rotateTwice(
  kill: readonly boolean[],
  done: () => Promise<boolean>,
  ...words: readonly string[]
): Promise<void> {
  await database.query(`select pg_advisory_lock(hashtext('identity signing keys'))`);
  const callers = [startRotate(0, ...words), startRotate(1, ...words)];
  await expect.poll(waitingCalls, { timeout: 20_000, interval: 20 }).toBe(2);
  await Promise.all(callers.filter((_, index) => kill[index]).map(killed));
  await database.query(`select pg_advisory_unlock(hashtext('identity signing keys'))`);
  if (kill.includes(false)) await expect.poll(done, { timeout: 10_000, interval: 5 }).toBe(true);
  await Promise.all(callers.map(killed));
}

/** What a caller does who comes afterwards. */
async function rotateOn(...words: readonly string[]): Promise<void> {
  expect(await ended(startRotate(2, '--step', ...words))).toBe(0);
}

test('two callers rotate at once and are killed in the middle: rotate goes on where they were', async () => {
  const before = await entries();
  const added = async (action: string) => ((await entries())[action] ?? 0) > (before[action] ?? 0);
  const [watch, traffic] = [
    await watchKeySets(system, clock, openHeldKeySets()),
    await startTraffic(system, clock),
  ];
  const old = await kidsIn(KeyState.ACTIVE);

  await rotateTwice([true, false], () => added('key.stage'));
  await rotateOn();
  const fresh = await kidsIn(KeyState.STAGED);
  expect([fresh.length, await kidsIn(KeyState.ACTIVE)]).toEqual([2, old]);
  // What each pod does within the 310 s that are left out.
  await followTimes(performance.now(), (pod) => watch.shows(pod, [...old, ...fresh]));

  await clock.ageUntil('published_at', 310);
  await rotateTwice([false, true], () => added('key.activate'));
  await rotateOn();
  expect([await kidsIn(KeyState.ACTIVE), await kidsIn(KeyState.SUPERSEDED)]).toEqual([fresh, old]);
  await followTimes(performance.now(), (pod) => signsWith(traffic, pod, fresh));

  await clock.ageUntil('superseded_at', 960);
  await rotateTwice([true, true], async () => true, '--finish');
  await rotateOn('--finish');
  expect(await kidsIn(KeyState.SUPERSEDED)).toEqual([]);
  expect(await kidsIn(KeyState.ACTIVE)).toEqual(fresh);
  await Promise.all([traffic.stop(), watch.stop()]);

  const after = await entries();
  for (const action of ['key.stage', 'key.activate', 'key.supersede', 'key.retire'])
    expect([action, (after[action] ?? 0) - (before[action] ?? 0)]).toEqual([action, 2]);
  expect(await callService(AuditService, `${system.pods[0]?.operator}`).verifyAudit({})).toMatchObject({
    intact: true,
  });
});
