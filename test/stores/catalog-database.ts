// A catalog database of its own for each test file: roles, migrations, a writer and the service's own reader.
import { migrate } from '@course-exchange/runtime/postgres/migrate';
import { openDatabase } from '@course-exchange/runtime/postgres/pool';
import { createLogger } from '@course-exchange/runtime/process/logger';
import pg from 'pg';
import { afterAll } from 'vitest';
import { openJobDatabase, patient } from './migration-jobs.ts';

const migrations = new URL('../../services/design-catalog/migrations', import.meta.url).pathname;

export type CatalogDatabase = Awaited<ReturnType<typeof openCatalogDatabase>>;

/** A catalog for the tests of this file. */
export async function useCatalogDatabase(connections?: number): Promise<CatalogDatabase> {
  const catalog = await openCatalogDatabase(connections);
  afterAll(catalog.close);
  return catalog;
}

export async function openCatalogDatabase(connections = 10) {
  const job = await openJobDatabase();
  await migrate(job.superuser, 'catalog', migrations);
  /** Superuser's connections, search path `catalog`. */
  const writer = new pg.Pool({
    connectionString: job.superuser,
    max: connections,
    options: '-c search_path=catalog -c timezone=UTC',
  });
  const readerUrl = job.as('catalog_ro');
  /** As the service reads: role catalog_ro, through the runtime's pool. */
  const reader = openDatabase({
    url: readerUrl,
    applicationName: 'catalog test',
    poolSize: 2,
    ...patient,
    readOnly: true,
    schema: 'catalog',
    logger: createLogger('test', 'error'),
  });
  /** As the feed writes: role catalog_feed. */
  const feed = openDatabase({
    url: job.as('catalog_feed'),
    applicationName: 'feed test',
    poolSize: 8,
    ...patient,
    schema: 'catalog',
    logger: createLogger('test', 'error'),
  });
  const close = async () => {
    await Promise.all([writer.end(), reader.close(), feed.close()]);
    await job.close();
  };
  return { writer, reader, readerUrl, feed, close };
}

/** Events whose summary differs from a full recount, in either direction. Exact means none. */
export async function differences(writer: pg.Pool): Promise<unknown[]> {
  const recount = `
    select owner, event_id,
      (array_agg(event_name order by updated_at desc nulls last, id))[1] as name,
      min(event_date) as start_date, max(event_date) as end_date, max(updated_at) as updated_at,
      count(*)::integer as design_count
    from designs where deleted_at is null and event_id <> '' group by owner, event_id`;
  const columns = 'owner, event_id, name, start_date, end_date, updated_at, design_count';
  const expected = `select ${columns}, event_json(event_id, name, start_date, end_date, updated_at, design_count)
    from (${recount})`;
  const kept = `select ${columns}, public_json from event_summaries`;
  const { rows } = await writer.query(
    `((${expected}) except (${kept})) union all ((${kept}) except (${expected}))`,
  );
  return rows;
}
