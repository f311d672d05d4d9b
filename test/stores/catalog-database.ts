// A catalog database of its own for each test file: roles, migrations, a writer and the service's own reader.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger } from '@course-exchange/runtime/logger';
import { migrate } from '@course-exchange/runtime/migrations';
import { type Database, openDatabase } from '@course-exchange/runtime/postgres';
import pg from 'pg';

const migrations = new URL('../../services/design-catalog/migrations', import.meta.url).pathname;
const roles = new URL('../../deploy/postgres/roles.sql', import.meta.url);

export interface CatalogDatabase {
  /** Superuser's connections, search path `catalog`. */
  readonly writer: pg.Pool;
  /** As the service reads: role catalog_ro, through the runtime's pool. */
  readonly reader: Database;
  readonly readerUrl: string;
  /** As the feed writes: role catalog_feed. */
  readonly feed: Database;
  readonly close: () => Promise<void>;
}

export async function openCatalogDatabase(connections = 10): Promise<CatalogDatabase> {
  const server = address();
  const name = `catalog_${randomBytes(6).toString('hex')}`;
  const password = randomBytes(12).toString('hex');
  await once(server, `create database ${name}`);
  const url = Object.assign(new URL(server), { pathname: `/${name}` });
  await once(url.href, readFileSync(roles, 'utf8'));
  const login = `${name}_reader`;
  await once(
    url.href,
    `create role ${login} login in role catalog_ro password '${password}';
     grant connect on database ${name} to ${login};
     create role ${login}_feed login in role catalog_feed password '${password}';
     grant connect on database ${name} to ${login}_feed`,
  );
  await migrate(url.href, 'catalog', migrations);
  const writer = new pg.Pool({
    connectionString: url.href,
    max: connections,
    options: '-c search_path=catalog -c timezone=UTC',
  });
  const readerUrl = Object.assign(new URL(url), { username: login, password }).href;
  const reader = openDatabase({
    url: readerUrl,
    applicationName: 'catalog test',
    poolSize: 2,
    statementTimeoutMs: 5_000,
    readOnly: true,
    schema: 'catalog',
    logger: createLogger('test', 'error'),
  });
  const feed = openDatabase({
    url: Object.assign(new URL(url), { username: `${login}_feed`, password }).href,
    applicationName: 'feed test',
    poolSize: 8,
    statementTimeoutMs: 30_000,
    schema: 'catalog',
    logger: createLogger('test', 'error'),
  });
  const close = async () => {
    await Promise.all([writer.end(), reader.close(), feed.close()]);
    await untilLeft(server, name);
    await once(server, `drop database ${name} with (force)`);
    await once(server, `drop role ${login}, ${login}_feed`);
  };
  return { writer, reader, readerUrl, feed, close };
}

/** From the environment that test/support/store-setup.ts fills. */
function address(): string {
  const { TEST_POSTGRES_URL: url } = process.env;
  if (!url) throw new Error('TEST_POSTGRES_URL is missing: run this suite through test/run.ts');
  return url;
}

/** A connection that is ending is no longer listened to: being told to go then would be nobody's to catch. */
async function untilLeft(server: string, database: string): Promise<void> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  const connected = () => client.query('select from pg_stat_activity where datname = $1', [database]);
  for (let round = 0; round < 100 && (await connected()).rowCount !== 0; round++) await sleep(50);
  await client.end();
}

async function once(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** Events whose summary differs from a full recount, in either direction. Exact means none. */
export async function differences(writer: pg.Pool): Promise<unknown[]> {
  const recount = `
    select owner, event_id,
      (array_agg(event_name order by updated_at desc nulls last, id))[1] as name,
      min(event_date) as start_date, max(event_date) as end_date, max(updated_at) as updated_at,
      count(*)::integer as design_count
    from designs where deleted_at is null and event_id <> '' group by owner, event_id`;
  const kept = `select owner, event_id, name, start_date, end_date, updated_at, design_count from event_summaries`;
  const { rows } = await writer.query(
    `((${recount}) except (${kept})) union all ((${kept}) except (${recount}))`,
  );
  return rows;
}
