import { randomBytes } from 'node:crypto';
import { networksOf } from '@course-exchange/runtime/process/ip-address';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Interaction } from '../../services/identity/src/authorize/interaction.ts';
import { createInteraction } from '../../services/identity/src/authorize/interaction-store.ts';
import { createSession } from '../../services/identity/src/authorize/session-store.ts';
import type { ClientId, ConsentId, FamilyId, SecretHash, Sub } from '../../services/identity/src/ids.ts';
import {
  admitLogin,
  recordLoginFailure,
  rememberOrigins,
} from '../../services/identity/src/login/throttle-store.ts';
import { redisProblem } from '../../services/identity/src/readiness.ts';
import type { RedisStore } from '../../services/identity/src/redis/connect.ts';
import { createReplicas } from '../../services/identity/src/redis/replicas.ts';
import type { AuthorizationCode } from '../../services/identity/src/token/grant-record.ts';
import {
  countCode,
  createAuthorizationCode,
  deleteGrant,
  exchangeCode,
} from '../../services/identity/src/token/grant-store.ts';
import { openStore } from '../stores/redis-servers.ts';
import { startStores, type TestStores } from '../support/stores.ts';
import { documentedRedisKeys, section, tableRows } from './documents.ts';

interface FoundKey {
  readonly key: string;
  readonly type: string;
  /** Left to live. */
  readonly seconds: number;
  /** Of a hash, or of the JSON in a string. */
  readonly fields: readonly string[];
}

/** Writes to an empty Redis, as identity's user, and says what is then there. */
async function writeOneOfEachKey(url: string): Promise<FoundKey[]> {
  const store = await openStore({ REDIS_URL: url, REDIS_USERNAME: 'identity' });
  await writeOneOfEach({ ...store, replicas: createReplicas(0) });
  await store.close();
  return look(new Redis(url));
}

/** Every kind of key, by the functions that the service uses. */
async function writeOneOfEach(store: RedisStore): Promise<void> {
  const now = Date.now();
  const [kept, exchanged, deleted] = [newCode(now), newCode(now), newCode(now)];
  for (const code of [kept, exchanged, deleted]) await createAuthorizationCode(store, code);
  await countCode(store, kept, now);
  await exchangeCode(store, { ...exchanged, expiresAt: now }, { hash: exchanged.hash, issuedAt: now }, now);
  await deleteGrant(store, deleted);
  const interaction = newInteraction(kept, now);
  await createInteraction(store, interaction, now);
  await createInteraction(store, { ...interaction, id: word(16), decision: undefined }, now);
  await createSession(store, word(32), { sub: kept.sub, authTime: now, lastUsed: now });
  const attempt = { id: word(16), account: word(16), networks: networksOf('192.0.2.1') };
  await admitLogin(store, attempt, now);
  await recordLoginFailure(store, attempt, now);
  await admitLogin(store, { ...attempt, id: word(16) }, now);
  const known = { ...attempt, id: word(16), knownDevice: word(16) };
  await admitLogin(store, known, now);
  await recordLoginFailure(store, known, now);
  await admitLogin(store, { ...known, id: word(16) }, now);
  await rememberOrigins(store, attempt.account, [known.knownDevice], now);
  await redisProblem(store);
}

function word(bytes: number): string {
  return randomBytes(bytes).toString('base64url');
}

function newCode(now: number): AuthorizationCode {
  return {
    familyId: word(16) as FamilyId,
    hash: word(32) as SecretHash,
    clientId: word(8) as ClientId,
    sub: word(8) as Sub,
    consentId: word(8) as ConsentId,
    redirectUri: 'https://partner.example/callback',
    scopes: ['openid'],
    nonce: '',
    pkce: undefined,
    authTime: undefined,
    loggedInAt: now,
  };
}

/** With every member that a record may have; the compiler knows of one that is missing here. */
function newInteraction(
  { clientId, redirectUri, scopes, sub, hash, consentId }: AuthorizationCode,
  now: number,
) {
  const subject = { sub, authTime: now, origin: 'login' } as const;
  const interaction: Required<Interaction> = {
    id: word(16),
    cookieHash: hash,
    createdAt: now,
    request: {
      ...{ clientId, redirectUri, scopes, state: '', nonce: '', pkce: undefined, prompts: [] },
      ...{ maxAge: undefined, loginHint: '', uiLocales: '', hintedSub: undefined },
    },
    subject,
    holder: { sub, session: hash },
    wasSealed: true,
    accountConfirmed: true,
    decision: { kind: 'allowed', subject, consentId, at: now },
  };
  return interaction;
}

async function look(redis: Redis): Promise<FoundKey[]> {
  const keys = await redis.keys('*');
  const all = keys.map(async (key) => {
    const type = await redis.type(key);
    const text = type === 'string' ? ((await redis.get(key)) ?? '') : '{}';
    const fields = type === 'hash' ? await redis.hkeys(key) : Object.keys(JSON.parse(text));
    return { key, type, seconds: await redis.ttl(key), fields };
  });
  return Promise.all(all).finally(() => redis.disconnect());
}

const document = 'docs/redis-keys.md';
let stores: TestStores;
let found: readonly FoundKey[];

beforeAll(async () => {
  stores = await startStores();
  found = await writeOneOfEachKey(stores.redisUrl);
});
afterAll(() => stores.stop());

test.each(documentedRedisKeys())(`${document} says type, life and fields of $key`, (row) => {
  const written = found.filter(({ key }) => row.pattern.test(key));
  expect(new Set(written.map(({ type }) => type))).toEqual(new Set([row.type]));
  const longest = Math.max(...written.map(({ seconds }) => seconds));
  expect(Math.abs(longest - row.seconds)).toBeLessThan(10);
  if (row.type === 'zset') return;
  const fields = tableRows(section(document, `### \`${row.key}\``)).map(([field = '']) => field);
  const writtenFields = new Set(written.flatMap((each) => each.fields).map((field) => `\`${field}\``));
  expect(new Set(fields)).toEqual(writtenFields);
});
