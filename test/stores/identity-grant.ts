// Identity's token endpoint over real stores, the clients, users, consents and codes that its tests need, and its log.
import { createHmac, randomBytes } from 'node:crypto';
import { createLogger } from '@course-exchange/runtime/process/logger';
import { withCall } from '@course-exchange/runtime/process/request-context';
import { Secret } from '@course-exchange/runtime/process/secret';
import { startTelemetry } from '@course-exchange/runtime/process/telemetry';
import { context, ROOT_CONTEXT } from '@opentelemetry/api';
import { afterAll, beforeEach, expect } from 'vitest';
import type { Scope } from '../../services/identity/src/clients/scope.ts';
import type { ClientId, ConsentId, FamilyId, Sub } from '../../services/identity/src/ids.ts';
import { insertFirstKey, listPublishedKeys } from '../../services/identity/src/keys/key-table.ts';
import { generateSigningKey } from '../../services/identity/src/keys/private-key.ts';
import { createKeyRing } from '../../services/identity/src/keys/ring.ts';
import type { RedisStore } from '../../services/identity/src/redis/connect.ts';
import { Refusal } from '../../services/identity/src/refusals/reasons.ts';
import { createRequestLog } from '../../services/identity/src/request-log.ts';
import { formatToken, hashSecret, newSecret } from '../../services/identity/src/secrets.ts';
import { exchangeToken } from '../../services/identity/src/token/endpoint.ts';
import type { TokenDeps, TokenResponse } from '../../services/identity/src/token/grant.ts';
import type { AuthorizationCode } from '../../services/identity/src/token/grant-record.ts';
import { createAuthorizationCode } from '../../services/identity/src/token/grant-store.ts';
import { openFamilyBound, silent } from './families.ts';
import { type IdentityDatabase, useIdentityDatabase } from './postgres.ts';
import { openStore } from './redis-servers.ts';

export const keyEncryptionKey = new Secret(randomBytes(32));
export const redirectUri = 'https://partner.example/callback';

export interface Partner {
  readonly clientId: ClientId;
  readonly secret: string;
}

export async function addPartner({ sql }: IdentityDatabase): Promise<Partner> {
  const clientId = `partner-${randomBytes(6).toString('hex')}` as ClientId;
  const secret = newSecret(randomBytes);
  await sql(
    `insert into clients (client_id, name, active, approval_state, scopes, redirect_uris)
     values ($1, $1, true, 'approved', $2, $3)`,
    [clientId, ['openid', 'email', 'profile'], [redirectUri]],
  );
  await addSecret({ sql }, clientId, secret);
  return { clientId, secret };
}

export function addSecret({ sql }: Pick<IdentityDatabase, 'sql'>, clientId: ClientId, secret: string) {
  const insert = 'insert into client_secrets (client_id, secret_hash) values ($1, sha256($2::text::bytea))';
  return sql(insert, [clientId, secret]);
}

/** A user without a password, unless one is given. */
export async function addUser({ sql }: IdentityDatabase, email?: string, passwordHash = '-'): Promise<Sub> {
  const sub = randomBytes(16).toString('base64url') as Sub;
  await sql(
    `insert into users (sub, email, email_verified, name, password_hash) values ($1, $2, true, 'Ada', $3)`,
    [sub, email ?? `${sub}@example.org`, passwordHash],
  );
  return sub;
}

export async function addConsent(
  { sql }: IdentityDatabase,
  sub: Sub,
  clientId: ClientId,
  scopes: readonly Scope[] = ['openid', 'email', 'profile'],
): Promise<ConsentId> {
  const consentId = randomBytes(16).toString('base64url') as ConsentId;
  const insert = 'insert into consents (consent_id, sub, client_id, scopes) values ($1, $2, $3, $4)';
  await sql(insert, [consentId, sub, clientId, scopes]);
  return consentId;
}

/** What differs from a good request. `leftMs`: its caller waits so long; wants `carryContextAcrossAwaits`. */
interface Presented {
  readonly as?: Partner;
  readonly by?: TokenDeps | undefined;
  readonly leftMs?: number;
  readonly [field: string]: unknown;
}

const noFields = {
  ...{ authorization: '', grantType: '', code: '', redirectUri: '', codeVerifier: '', refreshToken: '' },
  ...{ scope: '', repeatedParameters: [] },
};

export type Endpoint = Awaited<ReturnType<typeof openEndpoint>>;

/** The token endpoint of one process, with a `partner` and what a user has `granted` to it. */
export async function openEndpoint(
  identity: IdentityDatabase,
  redis: RedisStore,
  log: Partial<TokenDeps> = {},
) {
  const { database, owner } = identity;
  for (const algorithm of ['RS256', 'ES256'] as const)
    await insertFirstKey(owner, await generateSigningKey({ keyEncryptionKey, randomBytes }, algorithm));
  const keys = createKeyRing({
    readKeys: () => listPublishedKeys(database),
    encryptionKeys: [keyEncryptionKey],
    needed: ['RS256', 'ES256'],
  });
  await keys.refresh();
  const requestLog = { ...createRequestLog(silent, new Secret(Buffer.alloc(32))), ...log };
  const families = openFamilyBound(identity, redis, requestLog);
  const deps = {
    ...{ database, redis, families },
    tokens: { keys, issuer: 'https://id.example', algorithm: 'ES256' },
    now: Date.now,
    randomBytes,
    onSecretUsed: () => {},
    conduct: { onGranted: () => {}, onRefused: () => {} },
    ...requestLog,
  } satisfies TokenDeps;

  const held = await addGrant(identity);
  /** A request with these fields alone, its client authenticated in the body. */
  const request = ({ as = held.partner, by = deps, leftMs, ...fields }: Presented) => {
    const asked = { ...noFields, clientId: as.clientId, clientSecret: as.secret, ...fields };
    if (leftMs === undefined) return exchangeToken(by, asked);
    const call = withCall(ROOT_CONTEXT, 'request', by.now() + leftMs);
    return context.with(call, () => exchangeToken(by, asked));
  };
  return Object.assign(held, {
    deps,
    /** A code as the authorization endpoint issues it; what the partner receives. */
    issue: async (changes: Partial<AuthorizationCode> = {}, store = redis): Promise<string> => {
      const familyId = randomBytes(16).toString('base64url') as FamilyId;
      const secret = newSecret(randomBytes);
      await createAuthorizationCode(store, {
        ...held.granted,
        ...{ familyId, hash: hashSecret(secret), redirectUri, scopes: ['openid', 'email', 'profile'] },
        ...{ nonce: '', pkce: undefined, authTime: undefined, loggedInAt: Date.now() },
        ...changes,
      });
      return formatToken(familyId, secret);
    },
    request,
    exchange: (code: string, presented: Presented = {}) =>
      request({ grantType: 'authorization_code', code, redirectUri, ...presented }),
    refresh: (refreshToken: string, presented: Presented = {}) =>
      request({ grantType: 'refresh_token', refreshToken, ...presented }),
  });
}

/** The error code of a refused request; `tokens` when it was answered. */
export async function outcomeOf(request: Promise<TokenResponse>): Promise<string> {
  return request.then(
    () => 'tokens',
    (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : String(error)),
  );
}

/** `work` as the request of this id; wants `carryContextAcrossAwaits`. */
export function asRequest<T>(requestId: string, work: () => Promise<T>, now = Date.now()): Promise<T> {
  return context.with(withCall(ROOT_CONTEXT, requestId, now + 60_000), work);
}

/** Reason and earlier request of a refusal, and why that one revoked the family; it was a moment ago. */
export async function refusalOf(request: Promise<unknown>) {
  const refusal: unknown = await request.then(
    () => 'tokens',
    (error: unknown) => error,
  );
  if (!(refusal instanceof Refusal)) throw refusal;
  const { earlier } = refusal.facts;
  if (earlier) expect(Math.abs(Date.now() - earlier.at)).toBeLessThan(30_000);
  return [refusal.facts.event?.reason, earlier?.requestId, ...(earlier?.revoked ? [earlier.revoked] : [])];
}

/** `count` separate connections to one Redis, for the tests of this file. */
export async function useRedis(count = 1): Promise<[RedisStore, ...RedisStore[]]> {
  const source = { REDIS_URL: process.env.TEST_REDIS_URL ?? '' };
  const stores = await Promise.all(
    Array.from({ length: count }, () => openStore(source, undefined, 30_000, 0)),
  );
  afterAll(() => Promise.all(stores.map(({ close }) => close())));
  return stores as [RedisStore, ...RedisStore[]];
}

/** The endpoint for the tests of a file, with a new grant before each; `stores` are separate connections to Redis. */
export async function useEndpoint(connections = 1, log: Partial<TokenDeps> = {}) {
  const identity = await useIdentityDatabase();
  const stores = await useRedis(connections);
  const [redis] = stores;
  const endpoint = Object.assign(await openEndpoint(identity, redis, log), { identity, redis, stores });
  beforeEach(async () => {
    Object.assign(endpoint, await addGrant(identity));
  });
  return endpoint;
}

/** A user with a consent for a separate partner. */
export async function addGrant(identity: IdentityDatabase) {
  const partner = await addPartner(identity);
  const sub = await addUser(identity);
  const { clientId } = partner;
  return { partner, granted: { sub, clientId, consentId: await addConsent(identity, sub, clientId) } };
}

const logKey = randomBytes(32);

/** Written out here, so that nothing but this hash can stand in a line. */
export function hashOf(text: string): string {
  return createHmac('sha256', logKey).update(text).digest('base64url').slice(0, 22);
}

/** Identity's request log for the tests of a file, read back: its lines and its counters (R33.1, R33.2). */
export async function recordRequests() {
  const { metricsText = expect.fail } = await startTelemetry('identity', {
    OTEL_EXPORTER_OTLP_ENDPOINT: undefined,
    OTEL_METRICS_EXPORTER: 'prometheus',
    OTEL_TRACES_SAMPLER_ARG: 1,
  });
  const lines: Record<string, unknown>[] = [];
  beforeEach(() => {
    lines.length = 0;
  });
  const logger = createLogger('identity', 'info', (line) => lines.push(JSON.parse(line)));
  return {
    metricsText,
    log: createRequestLog(logger, new Secret(logKey)),
    /** The security events since the last call, without what every line has. */
    told: (): unknown[] =>
      lines
        .splice(0)
        .filter(({ message }) => message === 'security event')
        .map(({ time: _, level, service, message: __, ...event }) => {
          expect([level, service]).toEqual(['info', 'identity']);
          return event;
        }),
    /** Code, reason and client of each refusal with a line that is no security event. No line has what was sent. */
    refused: () => {
      expect(JSON.stringify(lines)).not.toContain('canary');
      return lines
        .filter(({ message }) => message === 'request refused')
        .map(({ code, reason, client }) => [code, reason, client]);
    },
    /** The labels before the client's, and the value, of each series of a counter that names `client`. */
    counted: async (counter: string, client: string) => {
      const series = (await metricsText()).matchAll(
        new RegExp(`^course_exchange_${counter}_total\\{(.*),client_id="${client}"\\} (\\d+)$`, 'gm'),
      );
      return [...series].map(([, labels = '', value]) => [
        ...[...labels.matchAll(/"([^"]*)"/g)].map(([, label]) => label),
        Number(value),
      ]);
    },
  };
}
