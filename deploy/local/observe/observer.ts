// The page of `start --observe`: takes the services' traces as an OTLP collector does, reads their logs and metrics, asks
// Postgres for locks, and shows them at loopback. All of it is in memory, bounded, and gone with the stack.
import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fastify } from 'fastify';
import pg from 'pg';
import { healthAddresses, type StackPlan } from '../plan.ts';
import { databaseUrl } from '../postgres.ts';
import { ask } from '../shell.ts';
import { keyStep, type Reading, readSamples, type TileValues, tiles } from './metrics.ts';
import { openRequestStore } from './request-store.ts';
import { followFile, readLogLine, readSpans } from './telemetry.ts';

const readLogsEveryMs = 150;
const readLocksEveryMs = 500;
const readMetricsEveryMs = 2_000;
const windowReadings = 16;
/** Half an hour. */
const maxPoints = 900;

interface Point {
  readonly changed: number;
  readonly time: number;
  readonly tiles: Readonly<Record<string, TileValues>>;
}

const nothing: Reading = { time: 0, samples: [] };

export async function openObserver(plan: StackPlan): Promise<void> {
  const { ports, run } = plan;
  const processes = healthAddresses(ports);
  /** Numbers each change, so that a page asks for what is new to it. */
  let changes = 0;
  const next = () => ++changes;
  const store = openRequestStore(next);
  const readings: Reading[] = [];
  const window = () => [readings.at(-1) ?? nothing, readings[0] ?? nothing] as const;
  const points: Point[] = [];
  // The superuser sees all sessions.
  const locks = watchLocks(databaseUrl(plan, 'postgres'));
  const takeTraces = (body: unknown) => readSpans(body).forEach(store.addSpan);
  await serveAt(ports.observe, takeTraces, store.detail, (number) => ({
    ...store.since(number),
    ...{ changes, locks: locks(), tiles: tilesOf(...window()) },
    points: points.filter(({ changed }) => changed > number),
  }));
  const follow = Object.keys(processes).map((name) =>
    followFile(join(run.logs, `${name}.log`), (text) => {
      const line = readLogLine(text);
      if (line) store.addLine(line);
    }),
  );
  setInterval(() => {
    for (const read of follow) read();
  }, readLogsEveryMs).unref();
  setInterval(async () => {
    readings.push({ time: Date.now(), samples: await samplesOf(processes) });
    if (readings.length > windowReadings) readings.shift();
    const values = tiles.map(({ id, read }) => [id, read(...window())] as const);
    points.push({ changed: next(), time: Date.now(), tiles: Object.fromEntries(values) });
    if (points.length > maxPoints) points.shift();
  }, readMetricsEveryMs).unref();
}

/** The tiles, with what is known of this moment only. */
function tilesOf(now: Reading, before: Reading) {
  return tiles.map(({ totals, read: _, ...tile }) => ({
    ...{ ...tile, totals: totals?.(now, before) },
    note: tile.id === 'keys' ? keyStep(now) : undefined,
  }));
}

async function samplesOf(processes: Readonly<Record<string, string>>): Promise<Reading['samples']> {
  const texts = Object.entries(processes).map(async ([name, address]) => {
    const { ok, body } = await ask(`${address}/metrics`, 1_500);
    return readSamples(name, ok ? body : '');
  });
  const read = await Promise.allSettled(texts);
  return read.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
}

/** Which statements of Postgres wait for which others, as pg_blocking_pids says. */
const query = `
  select blocking.pid || ' ' || blocking.xact_start || ' ' || md5(waiting.query) as id, blocking.pid, blocking.state, blocking.usename as user,
    blocking.application_name as application, left(blocking.query, 300) as blocking,
    waiting.usename as waiter, left(waiting.query, 300) as waiting,
    extract(epoch from waiting.query_start)::float8 * 1000 as since
  from pg_stat_activity waiting, unnest(pg_blocking_pids(waiting.pid)) as blocker(pid), pg_stat_activity blocking
  where blocking.pid = blocker.pid`;

/** With the columns of the query. */
interface Lock {
  /** One transaction and what it blocks. */
  readonly id: string;
  /** When the first statement began to wait, and when one was last seen to. */
  readonly since: number;
  readonly until: number;
}

const mostLocks = 50;

/** Returns the locks known, the newest first. A database that does not answer adds none. */
function watchLocks(connectionString: string): () => readonly Lock[] {
  const pool = new pg.Pool({
    connectionString,
    max: 1,
    connectionTimeoutMillis: 1_000,
    query_timeout: 1_000,
  });
  pool.on('error', () => {});
  let known: readonly Lock[] = [];
  setInterval(async () => {
    const seen = await pool.query<Omit<Lock, 'until'>>(query).catch(() => ({ rows: [] }));
    for (const row of seen.rows) {
      const { since } = known.find(({ id }) => id === row.id) ?? row;
      const others = known.filter(({ id }) => id !== row.id);
      known = [{ ...row, since, until: Date.now() }, ...others].slice(0, mostLocks);
    }
  }, readLocksEveryMs).unref();
  return () => known;
}

const folder = join(import.meta.dirname, 'page');
const library = '/node_modules/lit-html';
const modules = ['lit-html.js', 'directive.js', 'directive-helpers.js', 'directives/repeat.js'];
const files: Readonly<Record<string, string>> = {
  '/': 'page.html',
  '/colours.css': '../../../../services/gateway/src/pages/colours.css',
  ...Object.fromEntries(
    ['page.css', 'page.js', 'elements.js', 'request.js', 'tiles.js'].map((name) => [`/${name}`, name]),
  ),
  ...Object.fromEntries(modules.map((name) => [`${library}/${name}`, `../..${library}/${name}`])),
};
const types: Readonly<Record<string, string>> = { '.css': 'text/css', '.js': 'text/javascript' };

const headers = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; " +
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** An export of spans is small; more is refused. */
const bodyLimit = 8 << 20;

/** Loopback alone. `takeTraces` throws if a body is no export of traces. */
async function serveAt(
  port: number,
  takeTraces: (body: unknown) => void,
  requestOf: (id: string) => unknown,
  newsSince: (number: number) => unknown,
): Promise<void> {
  const server = fastify({ bodyLimit });
  // JSON alone, which another site's page cannot send here without a preflight.
  server.removeContentTypeParser('text/plain');
  server.addHook('onRequest', async ({ headers: { host = '' } }, reply) => {
    reply.headers(headers);
    // Against DNS rebinding.
    if (!/^(?:127\.0\.0\.1|localhost)(?::\d+)?$/.test(host)) return reply.code(403).send();
  });
  server.post('/v1/traces', async ({ body }, reply) => {
    try {
      takeTraces(body);
      return {};
    } catch {
      return reply.code(400).send();
    }
  });
  server.get<{ Querystring: { since: string } }>('/news', async ({ query }) =>
    newsSince(Number(query.since)),
  );
  server.get<{ Querystring: { id: string } }>(
    '/request',
    async ({ query }, reply) => requestOf(query.id) ?? reply.code(404).send(),
  );
  for (const [path, file] of Object.entries(files))
    server.get(path, async (_, reply) =>
      reply
        .type(`${types[extname(file)] ?? 'text/html'}; charset=utf-8`)
        .send(readFileSync(join(folder, file))),
    );
  await server.listen({ port, host: '127.0.0.1' });
}
