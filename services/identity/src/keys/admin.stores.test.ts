// Signing keys on the operator's side: guarded by time (R17.1, R17.2), raced by operators, encrypted again without a stop.
import { randomBytes } from 'node:crypto';
import { Secret } from '@course-exchange/runtime/process/secret';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  type Endpoint,
  keyEncryptionKey,
  openEndpoint,
  useRedis,
} from '../../../../test/stores/identity-grant.ts';
import { anna, bert, dry, openOperatorContext, refusalOf } from '../../../../test/stores/operator-context.ts';
import { type IdentityDatabase, openIdentityDatabase } from '../../../../test/stores/postgres.ts';
import type { OperatorContext } from '../operator-port.ts';
import { activateKey, readKeys, reencryptKeys, retireKey, rotateKeys, stageKey } from './admin.ts';
import { insertFirstKey, listPublishedKeys } from './key-table.ts';
import { generateSigningKey } from './private-key.ts';
import { createKeyRing } from './ring.ts';

const [redis] = await useRedis();
let identity: IdentityDatabase;
let context: OperatorContext;

beforeEach(async () => {
  identity = await openIdentityDatabase();
  context = openOperatorContext(identity);
  for (const algorithm of ['RS256', 'ES256'] as const)
    await insertFirstKey(
      identity.owner,
      await generateSigningKey({ keyEncryptionKey, randomBytes }, algorithm),
    );
});
afterEach(() => identity.close());

const age = (seconds: number) =>
  identity.sql(
    `update signing_keys set published_at = published_at - make_interval(secs => $1),
       superseded_at = superseded_at - make_interval(secs => $1)`,
    [seconds],
  );
const rotation = { algorithms: [], continueOnly: false, olderThan: 0 };
const phases = async () =>
  (await readKeys(context, true)).map((key) => `${key.algorithm} ${key.state}`).sort();
const activeKey = async (algorithm = 'ES256') =>
  (await readKeys(context, false)).find((key) => key.algorithm === algorithm && key.state === 'active');

test('a key is published before it signs, and until its last token has expired [R17.1 R17.2]', async () => {
  const kid = (await activeKey())?.kid ?? '';
  expect((await refusalOf(retireKey(context, anna, { kid, emergency: true }))).code).toBe('refused');
  const staged = (await stageKey(context, anna, 'ES256')).result;
  const published = async () => (await listPublishedKeys(identity.database)).map((key) => key.kid);
  expect(await published()).toEqual(expect.arrayContaining([kid, staged.kid]));
  const activate = () => activateKey(context, anna, { kid: staged.kid, emergency: false });
  const early = await refusalOf(activate());
  expect(early.code).toBe('refused_until');
  expect(Math.round(((early.possibleAt ?? 0) - staged.publishedAt) / 1000)).toBe(310);
  await age(311);
  expect((await activate()).result.state).toBe('active');
  const retire = () => retireKey(context, anna, { kid, emergency: false });
  const refusal = await refusalOf(retire());
  expect(refusal.code).toBe('refused_until');
  expect(Math.round(((refusal.possibleAt ?? 0) - Date.now()) / 1000)).toBeGreaterThan(950);
  await age(905);
  expect(await published()).toContain(kid);
  await age(56);
  expect(await published()).not.toContain(kid);
  const { result } = await retire();
  expect([result.state, result.encryptedPrivateKey.length]).toEqual(['retired', 0]);
});

test('a compromised key is replaced and gone at once in an emergency', async () => {
  const bad = await activeKey();
  const { kid } = (await stageKey(context, anna, 'ES256')).result;
  await activateKey(context, anna, { kid, emergency: true });
  await retireKey(context, anna, { kid: bad?.kid ?? '', emergency: true });
  const published = (await listPublishedKeys(identity.database)).filter((key) => key.algorithm === 'ES256');
  expect(published.map((key) => key.kid)).toEqual([kid]);
});

test('a rotation stages, activates and retires both algorithms as time allows, and then is finished', async () => {
  const first = (await rotateKeys(context, anna, rotation)).result;
  expect(first.progress.every(({ nextAt }) => (nextAt ?? 0) > Date.now())).toBe(true);
  expect(await phases()).toEqual(['ES256 active', 'ES256 staged', 'RS256 active', 'RS256 staged']);
  expect((await rotateKeys(context, anna, rotation)).changes).toEqual([]);
  await age(311);
  await rotateKeys(context, anna, rotation);
  expect(await phases()).toEqual(['ES256 active', 'ES256 superseded', 'RS256 active', 'RS256 superseded']);
  await age(961);
  // The call that ends a rotation begins none: an interrupted one may be repeated at any time.
  const last = (await rotateKeys(context, anna, rotation)).result;
  expect(last.progress.map(({ nextAt }) => nextAt)).toEqual([undefined, undefined]);
  for (const wish of [{ continueOnly: true }, { olderThan: 86_400_000 }])
    expect((await rotateKeys(context, anna, { ...rotation, ...wish })).changes).toEqual([]);
  expect(await phases()).toEqual(['ES256 active', 'ES256 retired', 'RS256 active', 'RS256 retired']);
});

test('rotations that two operators begin at once are one rotation', async () => {
  const everybody = () =>
    Promise.all(
      Array.from({ length: 20 }, (_, index) => rotateKeys(context, index % 2 ? anna : bert, rotation)),
    );
  await everybody();
  expect(await phases()).toEqual(['ES256 active', 'ES256 staged', 'RS256 active', 'RS256 staged']);
  await age(311);
  await everybody();
  expect(await phases()).toEqual(['ES256 active', 'ES256 superseded', 'RS256 active', 'RS256 superseded']);
  const rows = await identity.sql(`select action, count(*)::int as count from audit_log group by action`);
  expect(Object.fromEntries(rows.map(({ action, count }) => [action, count]))).toEqual({
    'key.stage': 2,
    'key.activate': 2,
    'key.supersede': 2,
  });
});

test('a rotation run dry says what is due and does nothing', async () => {
  expect((await rotateKeys(context, dry, rotation)).changes.map(({ action }) => action)).toEqual([
    'key.stage',
    'key.stage',
  ]);
  expect(await phases()).toEqual(['ES256 active', 'RS256 active']);
});

test('a rotation fails no exchange, and each token verifies by a key set of 300 s ago', async () => {
  const pods = await Promise.all(Array.from({ length: 3 }, () => openEndpoint(identity, redis)));
  const [{ partner, deps, ...first }] = pods as [Endpoint];
  const published = () => deps.tokens.keys.publishedKeys().map(({ kid }) => kid);
  let { refreshToken, accessToken } = await first.exchange(await first.issue());
  let cached: ReadonlySet<string> = new Set(published());
  const kids = new Set<string>();
  const refreshEverywhere = async () => {
    for (const pod of pods) {
      ({ refreshToken, accessToken } = await pod.refresh(refreshToken, { as: partner }));
      const { idToken = '' } = await pod.exchange(await pod.issue());
      for (const token of [accessToken, idToken]) {
        const { kid } = JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString());
        kids.add(kid);
        expect(cached.has(kid)).toBe(true);
      }
    }
  };
  for (const seconds of [0, 311, 961]) {
    const early = new Set(published());
    await age(seconds);
    await rotateKeys(context, anna, { ...rotation, continueOnly: seconds === 961 });
    // The pods follow one after the other, with refreshes between.
    for (const pod of pods) {
      await pod.deps.tokens.keys.refresh();
      await refreshEverywhere();
    }
    cached = new Set([...early, ...published()]);
  }
  // Two algorithms, before and after.
  expect(kids.size).toBe(4);
});

test('keys under a new key-encryption key: pods with both keys sign before, during and after', async () => {
  const fresh = new Secret(randomBytes(32));
  const pod = (...encryptionKeys: (typeof fresh)[]) =>
    createKeyRing({
      readKeys: () => listPublishedKeys(identity.database),
      encryptionKeys,
      needed: ['RS256', 'ES256'],
    });
  const both = openOperatorContext(identity, {
    keyEncryptionKey: fresh,
    previousKeyEncryptionKey: keyEncryptionKey,
  });
  const withBoth = pod(fresh, keyEncryptionKey);
  await withBoth.refresh();
  expect(withBoth.problem()).toBeUndefined();
  const lone = openOperatorContext(identity, { keyEncryptionKey: fresh });
  expect((await refusalOf(reencryptKeys(lone, anna))).code).toBe('refused');
  expect((await reencryptKeys(both, dry)).result).toEqual({ reencrypted: 2, alreadyCurrent: 0 });
  expect((await reencryptKeys(both, anna)).result).toEqual({ reencrypted: 2, alreadyCurrent: 0 });
  expect((await reencryptKeys(both, anna)).result).toEqual({ reencrypted: 0, alreadyCurrent: 2 });
  for (const ring of [pod(fresh), pod(fresh, keyEncryptionKey)]) {
    await ring.refresh();
    expect(ring.problem()).toBeUndefined();
  }
});
