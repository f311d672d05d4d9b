// What the token endpoint needs; main puts it together.
import type { Database } from '@course-exchange/runtime/postgres';
import type { ClientId, RandomBytes, Sub } from '../domain/ids.ts';
import type { AccessTokens } from '../signing/access-token.ts';
import type { ReplicatedStore } from '../store/redis/replication.ts';

export interface TokenEndpoint {
  readonly database: Pick<Database, 'query'>;
  readonly redis: ReplicatedStore;
  readonly tokens: AccessTokens;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly randomBytes: RandomBytes;
  /** Told of each grant that became tokens, for the log. */
  readonly onIssued: (issued: IssuedTokens) => void;
  /** Told which secret an authenticated client showed, by its SHA-256 in hex. Returns at once. */
  readonly onSecretUsed: (clientId: ClientId, secretHash: string) => void;
}

interface IssuedTokens {
  readonly grantType: string;
  readonly clientId: ClientId;
  readonly sub: Sub;
}
