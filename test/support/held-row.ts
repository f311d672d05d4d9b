// A row that an import must wait for: what comes before is committed, and the import stands where a test can cut it off.
import pg from 'pg';
import { expect } from 'vitest';

/** `insert` makes the row, and leaves its transaction open. */
export async function holdRow(postgres: string | undefined, insert: string) {
  const client = new pg.Client(postgres);
  // Postgres may be what is killed.
  client.on('error', () => {});
  await client.connect();
  // Without the work of triggers, which would hold back the batches before.
  await client.query(`begin; set local session_replication_role = replica; ${insert}`);
  const waiting = 'select count(*)::int as count from pg_locks where not granted';
  return {
    reached: () =>
      expect
        .poll(async () => (await client.query(waiting)).rows[0].count, { timeout: 30_000, interval: 5 })
        .toBeGreaterThan(0),
    release: () => client.end().catch(() => {}),
  };
}
