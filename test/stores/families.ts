// The bound on refresh families, over real stores.
import { createLogger } from '@course-exchange/runtime/process/logger';
import type { RedisStore } from '../../services/identity/src/redis/connect.ts';
import { insertSupersededFamilies } from '../../services/identity/src/refusals/superseded-table.ts';
import { createFamilyBound, type FamilyBoundDeps } from '../../services/identity/src/token/family-bound.ts';
import type { IdentityDatabase } from './postgres.ts';

export const silent = createLogger('identity', 'error', () => {});

/** The bound of one process. */
export function openFamilyBound(
  { database }: IdentityDatabase,
  redis: RedisStore,
  deps: Pick<FamilyBoundDeps, 'keyedFamily' | 'observe'> & Partial<FamilyBoundDeps>,
) {
  const record: FamilyBoundDeps['record'] = (ended) => insertSupersededFamilies(database, ended);
  return createFamilyBound({ most: 1_000, now: Date.now, logger: silent, record, redis, ...deps });
}
