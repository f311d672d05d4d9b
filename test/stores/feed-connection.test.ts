// A connection that Postgres takes away in the middle of a batch: the batch fails, the process goes on.
import { expect, onTestFinished, test } from 'vitest';
import { openCatalogDatabase } from './catalog-database.ts';

const ownPid = { name: 'own pid', text: 'select pg_backend_pid() as pid' };

test('a transaction whose connection is ended fails as unavailable, and the next one has another connection', async () => {
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
