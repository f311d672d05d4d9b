// The parts of the demo partner, put together over one database file. Constructed by main and by tests.
import type { DatabaseSync } from 'node:sqlite';
import type { Logger } from '@course-exchange/runtime/logger';
import type { Secret } from '@course-exchange/runtime/secret';
import { type AccessTokens, createAccessTokens } from './access-tokens.ts';
import { type Authorization, createAuthorization } from './authorization.ts';
import { type BrowserSessions, createBrowserSessions } from './browser-session.ts';
import { createDesignApi, type DesignApi } from './design-api.ts';
import { createOutgoingFetch } from './outgoing.ts';
import { createProvider, type Provider, type Registration } from './provider.ts';
import { type Connections, createConnections } from './store/connections.ts';
import { createSeal } from './store/seal.ts';
import { createSessions, type Identity } from './store/sessions.ts';
import { createTransactions } from './store/transactions.ts';

export interface PartnerOptions extends Registration {
  readonly scopes: string;
  /** Origin under which browsers reach us. */
  readonly publicUrl: string;
  readonly encryptionKey: Secret<Buffer>;
  readonly database: DatabaseSync;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly sleep: (milliseconds: number) => Promise<unknown>;
  /** Cryptographic. */
  readonly randomBytes: (length: number) => Uint8Array;
  /** A new correlation id for each page request. */
  readonly newRequestId: () => string;
  /** From 0 to 1, for the jitter of the back-off. */
  readonly random: () => number;
}

export interface Partner {
  readonly provider: Provider;
  readonly sessions: BrowserSessions;
  readonly connections: Connections;
  readonly authorization: Authorization;
  readonly accessTokens: AccessTokens;
  readonly designApi: DesignApi;
  readonly endSessionsOf: (identity: Identity) => void;
  readonly moveTransactions: (oldSession: string, newSession: string) => void;
  readonly logger: Logger;
  readonly newRequestId: () => string;
  readonly now: () => number;
}

export function createPartner(options: PartnerOptions): Partner {
  const { database, issuer, clientId, scopes, publicUrl, logger, now, sleep, random } = options;
  const seal = createSeal(options.encryptionKey, options.randomBytes);
  const fetch = createOutgoingFetch(logger);
  const provider = createProvider(options, fetch, now);
  const connections = createConnections(database, seal);
  const sessions = createSessions(database);
  const accessTokens = createAccessTokens(provider, connections, now);
  const redirectUri = `${publicUrl}/callback`;
  const transactions = createTransactions(database, seal);
  return {
    provider,
    connections,
    accessTokens,
    sessions: createBrowserSessions(sessions, publicUrl.startsWith('https:'), now),
    authorization: createAuthorization({
      provider,
      transactions,
      clientId,
      redirectUri,
      scopes,
      now,
    }),
    designApi: createDesignApi({ issuer, fetch, accessTokens, sleep, random }),
    endSessionsOf: sessions.removeAll,
    moveTransactions: transactions.move,
    logger,
    newRequestId: options.newRequestId,
    now,
  };
}
