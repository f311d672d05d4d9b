// What this process stands on, each with the sentence that says what is wrong. The key set and discovery are answered
// all the same.
import type { ReadinessCheck } from '@course-exchange/runtime/health';
import type { Database } from '@course-exchange/runtime/postgres';
import { postgresProblem } from '@course-exchange/runtime/postgres-connections';
import type { RedisStore } from '@course-exchange/runtime/redis';
import type { KeyRing } from './signing/key-ring.ts';
import { readSchemaVersion } from './store/postgres/schema-version.ts';

export interface ReadinessSubjects {
  readonly database: Database;
  readonly redis: RedisStore;
  readonly keys: KeyRing;
  /** Version of the newest migration that this code knows. */
  readonly schemaVersion: number;
}

export function readinessChecks({
  database,
  redis,
  keys,
  schemaVersion,
}: ReadinessSubjects): Readonly<Record<'redis' | 'postgres' | 'signingKeys', ReadinessCheck>> {
  return {
    redis: () =>
      Promise.resolve()
        .then(() => Promise.all(redis.masters().map((master) => master.ping())))
        .then(holds, () => 'Redis does not answer'),
    postgres: () => checkSchema(database, schemaVersion),
    signingKeys: async () => keys.problem(),
  };
}

function holds(): undefined {}

async function checkSchema(database: Database, wanted: number): Promise<string | undefined> {
  const version = await readSchemaVersion(database).catch((error: unknown) => reasonOf(error));
  if (typeof version === 'string') return version;
  return version >= wanted
    ? undefined
    : `Schema version is ${version}, expected ${wanted}: run the migrations`;
}

/** SQLSTATEs of a missing schema, table or permission; anything else means that nobody answered. */
function reasonOf(error: unknown): string {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  const unmigrated = code === '42P01' || code === '3F000' || code === '42501';
  return unmigrated ? 'Schema is missing: run the migrations' : postgresProblem(error);
}
