// Constructs the demo partner over one database file, for the process and the tests.
import type { DatabaseSync } from 'node:sqlite';
import type { FastifyBaseLogger } from 'fastify';
import { type DestinationStream, pino, stdTimeFunctions } from 'pino';
import { createAccessTokens } from './access-tokens.ts';
import { createAuthorization, createTransactions } from './authorization.ts';
import type { Registration } from './config.ts';
import { createConnections } from './connections.ts';
import { createSeal } from './database.ts';
import { createDesignApi } from './design-api.ts';
import { createProvider, createProviderFetch } from './provider.ts';
import { createSessions } from './sessions.ts';

interface PartnerDeps {
  readonly database: DatabaseSync;
  readonly logger: FastifyBaseLogger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly sleep: (milliseconds: number) => Promise<unknown>;
  /** Cryptographic. */
  readonly randomBytes: (length: number) => Uint8Array;
  /** From 0 to 1, for the jitter of the back-off. */
  readonly random: () => number;
  readonly newRequestId: () => string;
}

export type Partner = ReturnType<typeof createPartner>;

export function createPartner(registration: Registration, deps: PartnerDeps) {
  const { database, logger, now, sleep, random } = deps;
  const { ISSUER: issuer, PUBLIC_URL, TOKEN_ENCRYPTION_KEY } = registration;
  const seal = createSeal(TOKEN_ENCRYPTION_KEY, deps.randomBytes);
  const fetch = createProviderFetch(logger);
  const provider = createProvider(registration, fetch, now);
  const connections = createConnections({ database, seal });
  const transactions = createTransactions({ database, seal });
  const accessTokens = createAccessTokens({ provider, connections, now });
  return {
    provider,
    sessions: createSessions({ database, secure: PUBLIC_URL.startsWith('https:'), now }),
    transactions,
    connections,
    authorization: createAuthorization({ registration, provider, transactions, now }),
    accessTokens,
    designApi: createDesignApi({ issuer, fetch, accessTokens, sleep, random }),
    logger,
    newRequestId: deps.newRequestId,
    now,
  };
}

/** JSON lines on standard output, without queries, bodies, tokens, cookies, e-mails or names (specification §7). */
export function createLogger(level: string, destination?: DestinationStream) {
  const options = {
    level,
    base: { service: 'demo-partner' },
    messageKey: 'message',
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return destination ? pino(options, destination) : pino(options);
}
