// How the catalog grows: designs loaded into the local stack's own Postgres through its own triggers, in steps, and at
// each step the service's reads with their plans, the feed and the recount, at the end the sizes; before it what requests
// cost in the stores. docs/capacity.md holds the tables and says what follows from them.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { table } from '../generate/page.ts';
import { startCourseExchange } from './course-exchange.ts';
import { feedLines, loadOwners } from './growth-data.ts';
import { measureReads, readColumns, round } from './growth-reads.ts';
import { cpuMicroseconds, residentMebibytes } from './processes.ts';
import { cpuOfPostgres, storeCosts } from './store-costs.ts';

export interface GrowthOptions {
  readonly root: string;
  readonly designs: number;
  readonly owners: number;
  /** File of SQL, run before anything is loaded, block by block: to try another schema. */
  readonly schema: string | undefined;
}

const shares = [0.01, 0.1, 1];
const maxLines = 100_000;
const workColumns = [
  'designs',
  'work',
  'takes',
  'in a second',
  'catalog, µs',
  'Postgres, µs',
  'WAL, bytes',
  'catalog, MiB',
];
/** Nothing more is loaded when the disk has less. */
const leastFree = 1.2 * 1024 ** 3;

type Growth = Awaited<ReturnType<typeof openGrowth>>;

/** Loads, measures, prints and deletes all of it. */
export async function measureGrowth(options: GrowthOptions): Promise<void> {
  const growth = await openGrowth(options);
  const steps: { readonly reads: string[][]; readonly works: string[][] }[] = [];
  try {
    say(await storeCosts(growth.ours));
    let loaded = 0;
    for (const share of shares) {
      const owners = Math.round(options.owners * share);
      const begin = performance.now();
      await loadTo(growth, options, loaded, owners);
      loaded = owners;
      const designs = await count(growth.client, 'select count(*) from designs');
      say(`${round(designs)} designs of ${round(owners)} owners; loaded in ${seconds(begin)}`);
      steps.push({
        reads: await measureReads(growth, owners, designs),
        works: [await measureFeed(growth, designs), await measureVerify(growth, designs)],
      });
    }
  } finally {
    // As far as it came.
    say(
      table(
        readColumns,
        steps.flatMap(({ reads }) => reads),
      ),
    );
    say(
      table(
        workColumns,
        steps.flatMap(({ works }) => works),
      ),
    );
    try {
      say(table(['relation', 'rows', 'MiB', 'bytes a row'], await sizes(growth.client)));
    } finally {
      await growth.close();
    }
  }
}

async function openGrowth({ root, schema }: GrowthOptions) {
  const changes = schema === undefined ? [] : readFileSync(schema, 'utf8').split(/\n{2,}/);
  const ours = await startCourseExchange('ours', root);
  const url = ours.stack.postgres ?? '';
  const client = new pg.Client({ connectionString: url, options: '-c search_path=catalog' });
  client.on('error', () => {});
  const directory = mkdtempSync(join(tmpdir(), 'course-exchange-growth-'));
  const close = async () => {
    try {
      await client.end();
    } finally {
      rmSync(directory, { recursive: true });
      await ours.stop();
    }
  };
  try {
    await client.connect();
    for (const change of changes) await client.query(change);
  } catch (error) {
    await close();
    throw error;
  }
  return { root, ours, url, client, directory, close };
}

async function loadTo({ client }: Growth, { designs, owners }: GrowthOptions, from: number, to: number) {
  await client.query(
    "set synchronous_commit = off; set work_mem = '128MB'; set maintenance_work_mem = '512MB'",
  );
  const restoreIndexes = await dropIndexes(client);
  for (let first = from + 1; first <= to; first += 400) {
    const { bavail, bsize } = statfsSync(tmpdir());
    if (bavail * bsize < leastFree) throw new Error('The disk is almost full.');
    await loadOwners(client, { first, last: Math.min(first + 399, to), perOwner: designs / owners });
  }
  await restoreIndexes();
  await client.query('reset all; set search_path = catalog');
  await client.query('vacuum (analyze) designs, event_summaries');
  await client.query('checkpoint');
}

/** Those of table `designs`: sorted and built at once after the load. Returns what makes them as they were. */
async function dropIndexes(client: pg.Client): Promise<() => Promise<void>> {
  const { rows } = await client.query<{ drop: string; make: string }>(`
    select 'alter table designs drop constraint ' || conname as drop,
      'alter table designs add constraint ' || conname || ' ' || pg_get_constraintdef(oid) as make
    from pg_constraint where conrelid = 'designs'::regclass and contype = 'p'
    union all
    select 'drop index ' || indexrelid::regclass, replace(pg_get_indexdef(indexrelid), ' ONLY ', ' ')
    from pg_index where indrelid = 'designs'::regclass and not indisprimary`);
  for (const { drop } of rows) await client.query(drop);
  return async () => {
    for (const { make } of rows) await client.query(make);
  };
}

async function measureFeed(growth: Growth, designs: number): Promise<string[]> {
  const file = join(growth.directory, `${designs}.ndjson`);
  const lines = await feedLines(growth.client, maxLines, designs);
  writeFileSync(file, lines.join('\n'));
  return work(growth, designs, `feed of ${round(lines.length)} lines`, lines.length, [
    'designs',
    'import',
    file,
  ]);
}

async function measureVerify(growth: Growth, designs: number): Promise<string[]> {
  return work(growth, designs, 'verify', designs, ['designs', 'verify']);
}

/** One command of partnerctl over `lines` lines or designs. */
async function work(growth: Growth, designs: number, name: string, lines: number, words: readonly string[]) {
  const { ours, client, root } = growth;
  const catalog = ours.processes['design-catalog'] ?? 0;
  const postgres = () => cpuOfPostgres(ours.stack.processes?.postgres ?? 0);
  const wal = async () => count(client, `select pg_current_wal_lsn() - '0/0'`);
  const [before, cpu, cpuPostgres] = [await wal(), cpuMicroseconds([catalog]), postgres()];
  const begin = performance.now();
  const main = join(root, 'services/partnerctl/src/main.ts');
  execFileSync(process.execPath, [main, ...words, '--catalog', ours.stack.operator?.catalog ?? ''], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const ms = performance.now() - begin;
  return [
    round(designs),
    name,
    seconds(begin),
    round((lines * 1_000) / ms),
    ((cpuMicroseconds([catalog]) - cpu) / lines).toFixed(1),
    ((postgres() - cpuPostgres) / lines).toFixed(1),
    round(((await wal()) - before) / lines),
    `${residentMebibytes(catalog)}`,
  ];
}

async function sizes(client: pg.Client): Promise<string[][]> {
  const { rows } = await client.query(`
    with relations as (
      select coalesce(pg_partition_root(c.oid), c.oid)::regclass::text as name, c.relkind, c.oid, c.reltuples
      from pg_class c where relnamespace = 'catalog'::regnamespace and relkind in ('r', 'i')
    )
    select name, sum(reltuples)::float8 as rows, sum(pg_relation_size(oid))::float8 as bytes from relations
    where name ~ '^(designs|event_summaries)' group by name order by bytes desc`);
  return rows.map(({ name, rows: tuples, bytes }) => [
    name,
    round(tuples),
    round(bytes / 1024 ** 2),
    round(bytes / tuples),
  ]);
}

async function count(client: pg.Client, text: string): Promise<number> {
  const { rows } = await client.query({ text, rowMode: 'array' });
  return Number(rows[0]?.[0]);
}

const seconds = (begin: number): string => `${((performance.now() - begin) / 1_000).toFixed(1)} s`;

function say(text: string): void {
  console.log(`${text}\n\nLoad average ${loadavg()[0]?.toFixed(1)}.\n`);
}
