// Which connections a pool keeps after a failed transaction, and what it reports about them.
import { type Database, openDatabase, type Queries } from '@course-exchange/runtime/postgres/pool';
import { createLogger } from '@course-exchange/runtime/process/logger';
import { measureWith } from '@course-exchange/runtime/process/metrics';
import { startTelemetry } from '@course-exchange/runtime/process/telemetry';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { openCatalogDatabase, patient } from '../../../../test/stores/postgres.ts';

const options = {
  url: process.env.TEST_POSTGRES_URL ?? '',
  applicationName: 'transactions',
  ...patient,
  schema: 'public',
  poolSize: 1,
  logger: createLogger('test', 'error', () => {}),
};
const database: Database = openDatabase(options);
afterAll(() => database.close());

const run = (text: string) => (queries: Queries) => queries.query({ name: text, text }, []);
const backend = async () => (await database.transaction(run('select pg_backend_pid() as pid')))[0];

/** As a server that was demoted or fenced off answers. */
const writeToStandby = (): Promise<unknown> =>
  database.transaction(async (queries) => {
    await run('set transaction read only')(queries);
    await run('create table never_made ()')(queries);
  });

test('a connection whose server has become read-only is dropped, and the caller gets a 503 code [R14.1]', async () => {
  const before = await backend();
  await expect(writeToStandby()).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  expect(await backend()).not.toEqual(before);
});

test('an error that ends the connection is a fault of the store, whatever its code [R14.1]', async () => {
  const ended = database.transaction(async (queries) => {
    await run("set local transaction_timeout = '10ms'")(queries);
    await run('select pg_sleep(5)')(queries);
  });
  await expect(ended).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  expect(await backend()).toHaveProperty('pid');
});

test('a full disk is a fault of the store, and the connection is kept [R14.1]', async () => {
  const before = await backend();
  const full = run("do $$ begin raise exception using errcode = 'disk_full'; end $$");
  await expect(database.transaction(full)).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  expect(await backend()).toEqual(before);
});

test('a connection whose statement was wrong is kept', async () => {
  const before = await backend();
  await expect(database.transaction(run('select 1 / 0'))).rejects.toMatchObject({ code: '22012' });
  expect(await backend()).toEqual(before);
});

const ownPid = { name: 'own pid', text: 'select pg_backend_pid() as pid' };

test('a transaction whose connection is ended is unavailable; the next one has another', async () => {
  const { writer, feed, close } = await openCatalogDatabase();
  onTestFinished(close);
  const cut = feed.transaction(async (queries) => {
    const [row] = await queries.query<{ pid: number }>(ownPid, []);
    await writer.query('select pg_terminate_backend($1, 5000)', [row?.pid]);
    await queries.query(ownPid, []);
  });
  await expect(cut).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  expect(await feed.transaction((queries) => queries.query(ownPid, []))).toHaveLength(1);
});

test('metrics tell of a pool whose connections are all in use, and who waits', async () => {
  const { metricsText = async () => '' } = await startTelemetry('test', {
    OTEL_EXPORTER_OTLP_ENDPOINT: undefined,
    OTEL_METRICS_EXPORTER: 'prometheus',
    OTEL_TRACES_SAMPLER_ARG: 1,
  });
  onTestFinished(() => measureWith(undefined));
  const pool = openDatabase({ ...options, applicationName: 'measured' });
  onTestFinished(pool.close);
  const told = async (metric: string) =>
    (await metricsText())
      .split('\n')
      .filter((line) => line.startsWith(metric) && line.includes('pool_name="measured"'))
      .map((line) => line.split(' ').at(-1));
  const whileHeld = await pool.transaction(async (queries) => {
    const second = pool.query(ownPid, []);
    const [waiting, connections] = await Promise.all([
      told('db_client_connection_pending_requests'),
      told('db_client_connection_count'),
    ]);
    await queries.query(ownPid, []);
    return { second, waiting, connections };
  });
  await whileHeld.second;
  expect(whileHeld).toMatchObject({ waiting: ['1'], connections: ['0', '1'] });
  expect(await told('course_exchange_db_connection_waits_total')).toEqual(['1']);
});
