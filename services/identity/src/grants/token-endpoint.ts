// What the token endpoint needs; main puts it together.
import type { Database } from '@course-exchange/runtime/postgres';
import type { RandomBytes } from '../domain/ids.ts';
import type { AccessTokens } from '../signing/access-token.ts';
import type { ReplicatedStore } from '../store/redis/replication.ts';

export interface TokenEndpoint {
  readonly database: Pick<Database, 'query'>;
  readonly redis: ReplicatedStore;
  readonly tokens: AccessTokens;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly randomBytes: RandomBytes;
}
