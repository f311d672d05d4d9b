// What --check says of an account that gets in: its powers, its rights, the server behind it and the way there; and
// that the job ends where a server breaks off.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '@course-exchange/runtime/postgres/migrate';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createAuthority } from '../rpc/certificate-authority.ts';
import { type Link, openLink } from '../support/tcp-link.ts';
import { type JobDatabase, openJobDatabase, runJob } from './migration-jobs.ts';

const directory = new URL('../../services/design-catalog/migrations', import.meta.url).pathname;
let database: JobDatabase;
let whole: Record<string, string>;
let login: string;

beforeEach(async () => {
  database = await openJobDatabase();
  login = `login_${randomBytes(6).toString('hex')}`;
  whole = database.settings('design-catalog');
});
afterEach(async () => {
  await database.sql(`drop owned by ${login}`).catch(() => {});
  await database.sql(`drop role if exists ${login}`);
  await database.close();
});

const failures = async (changed: Record<string, string>) => {
  const ending = await runJob('design-catalog', { ...whole, ...changed }, '--check');
  return { code: ending.code, said: ending.said('check failed') };
};
/** The address of a login that `words` makes. */
async function loginOf(words: string): Promise<string> {
  await database.sql(`create role ${login} login password 'one' ${words}`);
  await database.sql(`grant connect on database ${database.name} to ${login}`);
  return Object.assign(new URL(database.superuser), { username: login, password: 'one' }).href;
}
const at = (address: string, host: string) => Object.assign(new URL(address), { host }).href;

describe('a login in the place of catalog_feed', () => {
  const instead = (which: string) =>
    `FEED_POSTGRES_URL logs in as ${login}, which ${which}: name catalog_feed there, or a login in it that can do no more.`;
  const cases: readonly [string, string, string, (() => string)[]][] = [
    ['a second login in the role, as it is rotated', 'in role catalog_feed', '', []],
    ['a superuser', 'superuser', '', [() => instead('is superuser')]],
    [
      'an administrator',
      'createrole createdb replication bypassrls in role catalog_feed',
      '',
      [() => instead('is createrole and createdb and replication and bypassrls')],
    ],
    [
      'one that may work as the owner',
      'in role catalog_feed, catalog_migrator',
      '',
      [() => instead('may work as the owner of the tables')],
    ],
    [
      'one that owns and creates',
      'in role catalog_feed',
      `create table public.mine (a int); alter table public.mine owner to :login;
        grant create on schema public to :login; grant create on database :db to :login`,
      [() => instead('owns 1 tables or indexes, may create schemas, may create in the schema public')],
    ],
    [
      'one that is in the role and does not inherit',
      'noinherit in role catalog_feed',
      '',
      [
        () =>
          `FEED_POSTGRES_URL logs in as ${login}, which is not catalog_feed and has not its rights: name catalog_feed there, or a login that is in it and inherits.`,
      ],
    ],
    [
      'one that only reads',
      'in role catalog_feed',
      'alter role :login in database :db set default_transaction_read_only = on',
      [
        () =>
          `Postgres at ${new URL(database.superuser).host} lets ${login} only read: reset default_transaction_read_only of the role, the database or the server.`,
      ],
    ],
  ];
  test.each(cases)('%s', async (_name, words, more, sentences) => {
    const FEED_POSTGRES_URL = await loginOf(words);
    if (more) await database.sql(more.replaceAll(':login', login).replaceAll(':db', database.name));
    const said = sentences.map((sentence) => sentence());
    expect(await failures({ FEED_POSTGRES_URL })).toEqual({ code: said.length > 0 ? 1 : 0, said });
  });
});

test('a second login of the reader must be read-only by its own setting', async () => {
  const POSTGRES_URL = await loginOf('in role catalog_ro');
  expect((await failures({ POSTGRES_URL })).said).toEqual([
    `${login} is not read-only by its own setting: alter the role with SET default_transaction_read_only = on.`,
  ]);
  await database.sql(`alter role ${login} set default_transaction_read_only = on`);
  expect(await failures({ POSTGRES_URL })).toEqual({ code: 0, said: [] });
});

test('a login that may not ask for the identifier of the server is compared by the rest', async () => {
  const FEED_POSTGRES_URL = await loginOf('in role catalog_feed');
  await database.sql('revoke execute on function pg_control_system() from public');
  await database.sql('grant execute on function pg_control_system() to catalog_migrator');
  expect(await failures({ FEED_POSTGRES_URL })).toEqual({ code: 0, said: [] });
});

test('in production a connection that leaves the machine must be encrypted', async () => {
  // An address of this machine that is not its loopback address.
  const away = at(whole.FEED_POSTGRES_URL ?? '', `0.0.0.0:${new URL(database.superuser).port}`);
  expect(await failures({ FEED_POSTGRES_URL: away, ENVIRONMENT: 'production' })).toEqual({
    code: 1,
    said: [
      `FEED_POSTGRES_URL reaches Postgres at ${new URL(away).host} without TLS, which production asks for: add sslmode=verify-full and sslrootcert to it.`,
    ],
  });
  expect(await failures({ FEED_POSTGRES_URL: away, ENVIRONMENT: 'test' })).toEqual({ code: 0, said: [] });
});

test('in production a verified connection passes for every account, the migrator that works as the owner too', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'course-exchange-preflight-'));
  const { certificate, issue } = await createAuthority('Stores');
  writeFileSync(join(folder, 'ca.crt'), certificate);
  await encrypt(await issue(['localhost', '0.0.0.0']));
  try {
    const verified = (address = '') =>
      `${at(address, `0.0.0.0:${new URL(database.superuser).port}`)}?sslmode=verify-full&sslrootcert=${folder}/ca.crt`;
    const encrypted = Object.fromEntries(
      Object.entries(whole).map(([setting, address]) => [setting, verified(address)]),
    );
    expect(await failures({ ...encrypted, ENVIRONMENT: 'production' })).toEqual({ code: 0, said: [] });
  } finally {
    await database.sql('alter system reset ssl');
    await database.sql('select pg_reload_conf()');
    rmSync(folder, { recursive: true });
  }
});

/** Has the server take TLS beside plain connections. It writes the files itself: nobody else may own the key. */
async function encrypt({ certificate, key }: { certificate: string; key: string }): Promise<void> {
  for (const [file, pem] of Object.entries({ 'server.crt': certificate, 'server.key': key }))
    await database.sql(
      `copy (select unnest(string_to_array('${pem}', E'\\n'))) to program 'umask 077; cat > ${file}'`,
    );
  await database.sql('alter system set ssl = on');
  await database.sql('select pg_reload_conf()');
}

describe('a server that lets everybody in and then', () => {
  test.each(['closes', 'is silent'] as const)('%s: the job ends with a sentence', async (fault) => {
    const link = await openFaultyLink(Number(new URL(database.superuser).port), fault);
    try {
      for (const setting of ['MIGRATOR_POSTGRES_URL', 'FEED_POSTGRES_URL']) {
        const address = at(whole[setting] ?? '', `127.0.0.1:${link.port}`);
        expect(await failures({ [setting]: address })).toEqual({
          code: 1,
          said: [
            `Postgres at 127.0.0.1:${link.port} does not answer: correct host and port in ${setting}, or open the way to it.`,
          ],
        });
      }
    } finally {
      await link.close();
    }
  });

  test('is silent: a migration ends', async () => {
    const link = await openFaultyLink(Number(new URL(database.superuser).port), 'is silent');
    try {
      const address = at(whole.MIGRATOR_POSTGRES_URL ?? '', `127.0.0.1:${link.port}`);
      await expect(migrate(address, 'catalog', directory)).rejects.toThrow('Query read timeout');
    } finally {
      await link.close();
    }
  });
});

/** First bytes of what asks something: Query and Parse. */
const asking: readonly (number | undefined)[] = [0x51, 0x50];

function openFaultyLink(target: number, fault: 'closes' | 'is silent'): Promise<Link> {
  return openLink(target, (client, upstream) => {
    let faulty = false;
    client.on('data', (bytes: Buffer) => {
      faulty ||= asking.includes(bytes[0]);
      if (!faulty) upstream.write(bytes);
      else if (fault === 'closes') client.destroy();
    });
    upstream.pipe(client, { end: false });
  });
}
