// Accounts in Postgres that are replaced while connections are in use: files that are read for each connection, roles
// and passwords that change, TLS; and what is told when an account cannot be used (R14).
import { randomBytes } from 'node:crypto';
import { chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openReads, type PipelinedReads } from '@course-exchange/runtime/postgres/pipelined-reads';
import { type Database, openDatabase } from '@course-exchange/runtime/postgres/pool';
import { schemaProblem } from '@course-exchange/runtime/postgres/schema-version';
import { type PostgresAccess, postgresAccess } from '@course-exchange/runtime/postgres/settings';
import { createLogger, type Logger } from '@course-exchange/runtime/process/logger';
import pg from 'pg';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { readinessChecks } from '../../services/identity/src/readiness.ts';
import { createAuthority } from '../rpc/certificate-authority.ts';
import { patient } from './postgres.ts';

const administrator = new pg.Pool({ connectionString: process.env.TEST_POSTGRES_URL ?? '', max: 1 });
afterAll(() => administrator.end());

const closing: (() => Promise<unknown> | undefined)[] = [];
const roles: string[] = [];
let lines: Record<string, unknown>[];
let logger: Logger;
let directory: string;
beforeEach(() => {
  // Those of this test alone: a connection of the one before may still be failing.
  const own: Record<string, unknown>[] = [];
  lines = own;
  logger = createLogger('test', 'info', (line) => own.push(JSON.parse(line)));
  directory = mkdtempSync(join(tmpdir(), 'accounts-'));
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  for (const role of roles.splice(0)) await administrator.query(`drop role ${role}`);
  rmSync(directory, { recursive: true });
});

const problems = () =>
  lines.filter(({ message }) => message === 'Postgres account is unusable').map(({ problem }) => problem);

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
    POSTGRES_URL: `postgres://nobody:nothing@${host.replace('127.0.0.1', 'localhost')}/postgres${words}`,
    POSTGRES_USER_FILE: write('user', user),
    POSTGRES_PASSWORD_FILE: write('password', password),
  });
}

const means = (url: PostgresAccess, lifetimeMs = 60_000) => ({
  ...{ url, lifetimeMs, logger },
  applicationName: 'accounts',
  ...patient,
  schema: 'public',
});

function openPool(url: PostgresAccess, poolSize = 2, lifetimeMs?: number): Database {
  const database = openDatabase({ ...means(url, lifetimeMs), poolSize });
  closing.push(database.close);
  return database;
}

function openLine(url: PostgresAccess, lifetimeMs?: number): PipelinedReads {
  const reads = openReads(means(url, lifetimeMs));
  closing.push(reads.close);
  return reads;
}

const who = { name: 'who', text: 'select session_user as "user", pg_backend_pid() as pid' };
const slowly = { name: 'slowly', text: 'select pg_sleep(0.02), session_user as "user"' };

async function userOf(database: Pick<Database, 'query'>): Promise<string | undefined> {
  return (await database.query<{ user: string }>(who, []))[0]?.user;
}

const unavailable = { code: 'temporarily_unavailable' };
/** A busy Postgres may answer too late for a connection, which is another reason for the same refusal. */
const eventually = { timeout: 20_000, interval: 20 };

test('a new password is used by new connections, while those with the old one go on', async () => {
  const role = await newRole('first');
  const database = openPool(account(role, 'first'));
  await database.transaction(async (queries) => {
    await queries.query(who, []);
    await administrator.query(`alter role ${role} password 'se%20c@o/n:d?#'`);
    write('password', 'se%20c@o/n:d?#');
    expect(await userOf(database)).toBe(role);
    expect(await userOf(queries)).toBe(role);
  });
  expect(problems()).toEqual([]);
});

test('another role takes over within the life of a connection, and no query fails', async () => {
  const [before, after] = [await newRole('first'), await newRole('second')];
  const url = account(before, 'first');
  const stores = [openPool(url, 2, 300), openLine(url, 300)];
  const seen = stores.map(() => [] as string[]);
  let going = true;
  const failed: unknown[] = [];
  const lanes = stores.flatMap((store, index) =>
    Array.from({ length: 3 }, async () => {
      while (going)
        await store.query<{ user: string }>(slowly, []).then(
          ([row]) => seen[index]?.push(row?.user ?? ''),
          (error) => failed.push(error),
        );
    }),
  );
  const allBy = (role: string) => () => seen.every((users) => users.slice(-6).every((user) => user === role));
  const answeredSince = (lengths: readonly number[]) => () =>
    Math.min(...seen.map(({ length }, index) => length - (lengths[index] ?? 0)));
  await expect.poll(answeredSince([0, 0]), eventually).toBeGreaterThan(20);
  write('password', 'second');
  write('user', after);
  await expect.poll(allBy(after), eventually).toBe(true);
  await administrator.query(`alter role ${before} nologin`);
  const left = async () =>
    (await administrator.query('select from pg_stat_activity where usename = $1', [before])).rowCount;
  await expect.poll(left, eventually).toBe(0);
  const lengths = seen.map(({ length }) => length);
  await expect.poll(answeredSince(lengths), eventually).toBeGreaterThan(20);
  going = false;
  await Promise.all(lanes);
  expect(failed).toEqual([]);
  for (const [index, users] of seen.entries()) {
    expect(users[0]).toBe(before);
    expect(new Set(users.slice(lengths[index]))).toEqual(new Set([after]));
  }
});

test('a line of reads is replaced again and again, and leaves no connection behind', async () => {
  const role = await newRole('first');
  const reads = openLine(account(role, 'first'), 100);
  const pids = new Set<number>();
  const replaced = async () => {
    const [row] = await reads.query<{ pid: number }>(who, []);
    return pids.add(row?.pid ?? 0).size;
  };
  await expect.poll(replaced, eventually).toBeGreaterThan(4);
  const open = async () =>
    (await administrator.query('select from pg_stat_activity where usename = $1', [role])).rowCount;
  await expect.poll(open, eventually).toBeLessThanOrEqual(2);
});

test('a password that Postgres refuses is a fault of the store, said in readiness and logged once', async () => {
  const role = await newRole('first');
  const url = account(role, 'wrong');
  const [database, reads] = [openPool(url), openLine(url)];
  const problemsAfter = async (store: Pick<Database, 'query'>) => {
    await expect(userOf(store)).rejects.toMatchObject(unavailable);
    return problems().length;
  };
  await expect.poll(() => problemsAfter(database), eventually).toBe(1);
  await expect.poll(() => problemsAfter(reads), eventually).toBe(2);
  for (const store of [database, reads]) await problemsAfter(store);
  await expect(database.transaction(async () => {})).rejects.toMatchObject(unavailable);
  const sentence = 'Postgres refuses the account of POSTGRES_URL';
  expect(problems()).toEqual([sentence, sentence]);
  expect(lines).toContainEqual(expect.objectContaining({ level: 'warn', errorCode: '28P01' }));
  await expect.poll(() => schemaProblem(database, 'catalog', 1), eventually).toBe(sentence);
  const checks = readinessChecks({ database, schemaVersion: 1 } as Parameters<typeof readinessChecks>[0]);
  await expect.poll(() => checks.postgres?.(), eventually).toBe(sentence);
  write('password', 'first');
  for (const store of [database, reads])
    await expect.poll(() => userOf(store).catch(() => undefined), eventually).toBe(role);
  await administrator.query(`alter role ${role} nologin`);
  const late = openPool(url);
  await expect.poll(() => problemsAfter(late), eventually).toBe(3);
  expect(problems()).toEqual([sentence, sentence, sentence]);
});

test('a file that is gone fails each query, also those that wait for a connection, and nothing else', async () => {
  const role = await newRole('first');
  const url = account(role, 'first');
  const [database, reads] = [openPool(url, 1), openLine(url)];
  rmSync(join(directory, 'password'));
  const asked = [database, database, database, reads, reads].map((store) => userOf(store));
  for (const each of await Promise.allSettled(asked))
    expect(each).toMatchObject({ status: 'rejected', reason: unavailable });
  expect(problems()).toEqual(Array(2).fill('A file of the account of POSTGRES_URL cannot be read'));
  const mistake = 'POSTGRES_PASSWORD_FILE cannot be read: expected the path of a readable file';
  expect(lines).toContainEqual(expect.objectContaining({ mistake }));
  write('password', 'first');
  for (const store of [database, reads])
    await expect.poll(() => userOf(store).catch(() => undefined), eventually).toBe(role);
});

test('TLS is spoken where the URL asks for it, with the authority and the name checked', async () => {
  const { rows } = await administrator.query(`select current_setting('data_directory') as data`);
  const data = rows[0].data as string;
  const [authority, stranger] = [await createAuthority(), await createAuthority('Stranger')];
  const { certificate, key } = await authority.issue(['localhost']);
  for (const [name, text] of Object.entries({ 'tls.crt': certificate, 'tls.key': key })) {
    writeFileSync(join(data, name), text, { mode: 0o600 });
    chownSync(join(data, name), statSync(data).uid, statSync(data).gid);
  }
  for (const change of [`ssl_cert_file = 'tls.crt'`, `ssl_key_file = 'tls.key'`, 'ssl = on'])
    await administrator.query(`alter system set ${change}`);
  await administrator.query('select pg_reload_conf()');
  closing.push(async () => {
    await administrator.query('alter system reset all');
    await administrator.query('select pg_reload_conf()');
  });
  const role = await newRole('first');
  const words = (text: string) => `?sslmode=verify-full&sslrootcert=${write('ca.crt', text)}`;
  const encrypted = {
    name: 'encrypted',
    text: 'select ssl from pg_stat_ssl where pid = pg_backend_pid()',
  };
  const trusting = openPool(account(role, 'first', words(authority.certificate)));
  await expect.poll(() => trusting.query(encrypted, []).catch(() => []), eventually).toEqual([{ ssl: true }]);
  const deceived = openPool(account(role, 'first', words(stranger.certificate)));
  await expect(userOf(deceived)).rejects.toMatchObject(unavailable);
  const { read, setting } = account(role, 'first', words(authority.certificate));
  const misled = openPool({ setting, read: () => ({ ...read(), host: '127.0.0.1' }) });
  await expect(userOf(misled)).rejects.toMatchObject(unavailable);
  rmSync(join(directory, 'ca.crt'));
  await expect(userOf(openPool({ setting, read }))).rejects.toMatchObject(unavailable);
  expect(problems()).toEqual(['A file of the account of POSTGRES_URL cannot be read']);
});
