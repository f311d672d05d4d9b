// One key of each kind in a real Redis, written by the functions of identity, as Redis shows it.
import { randomBytes } from 'node:crypto';
import { createLogger } from '@course-exchange/runtime/logger';
import { connectRedis } from '@course-exchange/runtime/redis';
import { redisAt } from '@course-exchange/runtime/redis-settings';
import { Redis } from 'ioredis';
import type {
  ClientId,
  ConsentId,
  FamilyId,
  SecretHash,
  Sub,
} from '../../services/identity/src/domain/ids.ts';
import type { Interaction } from '../../services/identity/src/domain/interaction.ts';
import {
  type AuthorizationCode,
  createAuthorizationCode,
} from '../../services/identity/src/store/redis/authorization-codes.ts';
import { createSession } from '../../services/identity/src/store/redis/browser-sessions.ts';
import { exchangeCode } from '../../services/identity/src/store/redis/code-exchange.ts';
import { createInteraction } from '../../services/identity/src/store/redis/interactions.ts';
import { admitLogin, recordLoginFailure } from '../../services/identity/src/store/redis/login-failures.ts';
import { deleteGrant } from '../../services/identity/src/store/redis/refresh-families.ts';
import type { ReplicatedStore } from '../../services/identity/src/store/redis/replication.ts';

export interface FoundKey {
  readonly key: string;
  readonly type: string;
  /** Left to live. */
  readonly seconds: number;
  /** Of a hash, or of the JSON in a string. */
  readonly fields: readonly string[];
}

/** Writes to an empty Redis and says what is then there. */
export async function writeOneOfEachKey(url: string): Promise<FoundKey[]> {
  const logger = createLogger('test', 'error', () => {});
  const place = redisAt(url);
  const connected = connectRedis({ place, connectionName: 'test', commandTimeoutMs: 5_000, logger });
  await new Promise<void>(connected.onceReady);
  await writeOneOfEach({ ...connected, minReplicas: 0 });
  await connected.close();
  return look(new Redis(url));
}

/** Every kind of key, by the functions that the service uses. */
async function writeOneOfEach(store: ReplicatedStore): Promise<void> {
  const now = Date.now();
  const [kept, exchanged, deleted] = [newCode(now), newCode(now), newCode(now)];
  for (const code of [kept, exchanged, deleted]) await createAuthorizationCode(store, code);
  const { family, hash, clientId, sub, consentId, scopes } = exchanged;
  const begun = { family, hash, codeHash: hash, clientId, sub, consentId, scopes };
  await exchangeCode(store, { ...begun, loggedInAt: now, issuedAt: now });
  await deleteGrant(store, deleted);
  await createInteraction(store, newInteraction(kept, now));
  await createSession(store, word(32), { sub, authTime: now, lastUsed: now });
  const attempt = { id: word(16), account: word(16), network: '192.0.2.0/24' };
  await admitLogin(store, attempt, now);
  await recordLoginFailure(store, attempt, now);
  await admitLogin(store, { ...attempt, id: word(16) }, now);
}

function word(bytes: number): string {
  return randomBytes(bytes).toString('base64url');
}

function newCode(now: number): AuthorizationCode {
  return {
    family: word(16) as FamilyId,
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
    bindingHash: hash,
    createdAt: now,
    request: {
      ...{ clientId, redirectUri, scopes, state: '', nonce: '', pkce: undefined, prompts: [] },
      ...{ maxAge: undefined, loginHint: '', uiLocales: '', hintedSub: undefined },
    },
    subject,
    accountConfirmed: true,
    decision: { kind: 'allowed', subject, consentId, at: now },
  };
  return interaction;
}

async function look(redis: Redis): Promise<FoundKey[]> {
  const keys = await redis.keys('*');
  const all = await Promise.all(
    keys.map(async (key) => {
      const type = await redis.type(key);
      return { key, type, seconds: await redis.ttl(key), fields: await fieldsOf(redis, key, type) };
    }),
  );
  redis.disconnect();
  return all;
}

async function fieldsOf(redis: Redis, key: string, type: string): Promise<string[]> {
  if (type === 'hash') return redis.hkeys(key);
  return type === 'string' ? Object.keys(JSON.parse((await redis.get(key)) ?? '{}')) : [];
}
