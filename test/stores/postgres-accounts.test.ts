// Accounts in Postgres that are replaced while connections are in use: files that are read for each connection, roles
// and passwords that change; and what is reported when an account cannot be used. TLS: preflight.test.ts.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openReads } from '@course-exchange/runtime/postgres/pipelined-reads';
import { openDatabase, type Reads } from '@course-exchange/runtime/postgres/pool';
import { type PostgresAccess, postgresAccess } from '@course-exchange/runtime/postgres/settings';
import { createLogger } from '@course-exchange/runtime/process/logger';
import pg from 'pg';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { readinessChecks } from '../../services/identity/src/readiness.ts';
import { patient } from './postgres.ts';

const administrator = new pg.Pool({ connectionString: process.env.TEST_POSTGRES_URL ?? '', max: 1 });
const directory = mkdtempSync(join(tmpdir(), 'accounts-'));
const roles: string[] = [];
afterAll(async () => {
  for (const role of roles) await administrator.query(`drop role ${role}`);
  await administrator.end();
  rmSync(directory, { recursive: true });
});

async function newRole(password: string): Promise<string> {
  const role = `account_${randomBytes(6).toString('hex')}`;
  await administrator.query(`create role ${role} login password '${password}'`);
  roles.push(role);
  return role;
}

function write(name: string, content: string): string {
  const path = join(directory, name);
  writeFileSync(path, `${content}\n`);
  return path;
}

/** An account whose user and password stand in files, beside an address that knows neither. */
function account(user: string, password: string, words = ''): PostgresAccess {
  const { host } = new URL(process.env.TEST_POSTGRES_URL ?? '');
  return postgresAccess('POSTGRES', {
    POSTGRES_URL: `postgres://nobody:nothing@${host}/postgres${words}`,
    POSTGRES_USER_FILE: write('user', user),
    POSTGRES_PASSWORD_FILE: write('password', password),
  });
}

/** A pool, a line of reads, and the lines that they log of an account that cannot be used. */
function openBoth(url: PostgresAccess, lifetimeMs = 60_000) {
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger('test', 'info', (line) => lines.push(JSON.parse(line)));
  const options = { url, lifetimeMs, logger, applicationName: 'accounts', ...patient, schema: 'public' };
  const [database, reads] = [openDatabase({ ...options, poolSize: 2 }), openReads(options)];
  onTestFinished(async () => void (await Promise.all([database.close(), reads.close()])));
  const unusable = () => lines.filter(({ message }) => message === 'Postgres account is unusable');
  return { database, stores: [database, reads], unusable };
}

const who = { isRead: true, name: 'who', text: 'select pg_sleep(0.02), session_user as "user"' } as const;

async function userOf(store: Reads): Promise<string | undefined> {
  return (await store.query<{ user: string }>(who, []))[0]?.user;
}

const unavailable = { code: 'temporarily_unavailable' };
/** A busy Postgres may answer too late for a connection, which is another reason for the same refusal. */
const eventually = { interval: 20 };

test('another role takes over within the life of a connection, and no query fails', async () => {
  const [before, after] = [await newRole('first'), await newRole('se%20c@o/n:d?#')];
  const { stores } = openBoth(account(before, 'first'), 300);
  const seen = stores.map(() => [] as (string | undefined)[]);
  let going = true;
  const lanes = stores.flatMap((store, index) =>
    Array.from({ length: 3 }, async () => {
      while (going) seen[index]?.push(await userOf(store));
    }),
  );
  const allBy = (role: string) => () =>
    seen.every((users) => users.length > 20 && users.slice(-6).every((user) => user === role));
  await expect.poll(allBy(before), eventually).toBe(true);
  write('password', 'se%20c@o/n:d?#');
  write('user', after);
  await expect.poll(allBy(after), eventually).toBe(true);
  await administrator.query(`alter role ${before} nologin`);
  const left = async () =>
    (await administrator.query('select from pg_stat_activity where usename = $1', [before])).rowCount;
  await expect.poll(left, eventually).toBe(0);
  going = false;
  await Promise.all(lanes);
});

test('a password that Postgres refuses is a fault of the store, said in readiness and logged once', async () => {
  const role = await newRole('first');
  const { database, stores, unusable } = openBoth(account(role, 'wrong'));
  const problem = 'Postgres refuses the account of POSTGRES_URL (28P01)';
  for (const [index, store] of stores.entries()) {
    const toldAfter = async () => {
      await expect(userOf(store)).rejects.toMatchObject(unavailable);
      return unusable().length;
    };
    await expect.poll(toldAfter, eventually).toBe(index + 1);
    expect(await toldAfter()).toBe(index + 1);
  }
  await expect(database.transaction(async () => {})).rejects.toMatchObject(unavailable);
  const line = expect.objectContaining({ level: 'warn', errorCode: '28P01', problem });
  expect(unusable()).toEqual([line, line]);
  const checks = readinessChecks({ database, schemaVersion: 1 } as never);
  await expect.poll(() => checks.postgres(), eventually).toBe(problem);
  write('password', 'first');
  for (const store of stores)
    await expect.poll(() => userOf(store).catch(() => undefined), eventually).toBe(role);
});

test('a file that is gone fails each query, also those that wait for a connection, and nothing else', async () => {
  const role = await newRole('first');
  const problem = 'A file of the account of POSTGRES_URL cannot be read';
  const { stores, unusable } = openBoth(account(role, 'first'));
  rmSync(join(directory, 'password'));
  const asked = [...stores, ...stores, ...stores].map((store) => userOf(store));
  for (const each of await Promise.allSettled(asked))
    expect(each).toMatchObject({ status: 'rejected', reason: unavailable });
  const mistake = 'POSTGRES_PASSWORD_FILE cannot be read: expected the path of a readable file';
  expect(unusable()).toMatchObject([
    { problem, mistake },
    { problem, mistake },
  ]);
  write('password', 'first');
  for (const store of stores)
    await expect.poll(() => userOf(store).catch(() => undefined), eventually).toBe(role);
  const untrusting = openBoth(account(role, 'first', '?sslrootcert=/none'));
  await expect(userOf(untrusting.database)).rejects.toMatchObject(unavailable);
  expect(untrusting.unusable()).toMatchObject([{ problem }]);
});
