import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import type { Finding } from '../process/checks.ts';
import { createLogger } from '../process/logger.ts';
import { checkPostgres } from './check.ts';
import { openReads } from './pipelined-reads.ts';
import { openDatabase } from './pool.ts';
import { schemaProblem } from './schema-version.ts';
import { postgresAccess } from './settings.ts';

afterEach(() => vi.unstubAllEnvs());

function message(type: string, ...parts: readonly (string | Buffer)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part)));
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
}

const refusal = (code: string) => message('E', `SFATAL\0VFATAL\0C${code}\0Mno\0\0`);
const welcome = Buffer.concat([message('R', Buffer.alloc(4)), message('Z', 'I')]);

/** Answers each message from a client with the next of `answers`, the last of which ends the connection. */
async function server(...answers: readonly Buffer[]): Promise<string> {
  const listening = createServer((socket) => {
    let at = 0;
    socket
      .on('error', () => {})
      .on('data', () => {
        const [answer, isLast] = [answers[at] ?? '', at === answers.length - 1];
        at += 1;
        if (isLast) socket.end(answer);
        else socket.write(answer);
      });
  });
  onTestFinished(() => void listening.close());
  await once(listening.listen(0, '127.0.0.1'), 'listening');
  return `postgres://u:p@127.0.0.1:${(listening.address() as AddressInfo).port}/d`;
}

function openBoth(POSTGRES_URL: string) {
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger('test', 'info', (line) => lines.push(JSON.parse(line)));
  const url = postgresAccess('POSTGRES', { POSTGRES_URL });
  const options = { url, logger, applicationName: 'refused', statementTimeoutMs: 1_000, schema: 'identity' };
  const stores = [openDatabase({ ...options, poolSize: 1 }), openReads(options)];
  onTestFinished(async () => void (await Promise.all(stores.map((store) => store.close()))));
  return { stores, lines };
}

async function findingOf(url: string): Promise<string | undefined> {
  vi.stubEnv('POSTGRES_URL', url);
  const installation = {
    owner: 'o',
    schema: 'identity',
    accounts: [{ prefix: 'POSTGRES', role: 'identity_rw' }],
  };
  const found: Finding[] = [];
  const checks = { installation, config: { POSTGRES_URL: url }, schemaVersion: 1 };
  await checkPostgres(checks, async (_, check) => void found.push(...(await check())));
  return found.find(({ kind }) => kind === 'failure')?.message;
}

const pooler = 'A connection pooler stands before Postgres in POSTGRES_URL';
const account = 'Postgres refuses the account of POSTGRES_URL';
const other = 'Postgres answers and refuses connections of POSTGRES_URL';
const now = 'Postgres takes no connection now: try again when it does';
const correct = 'correct address, database, TLS, password or role';
const isPooler = 'a connection pooler stands before Postgres: name the server itself (docs/install.md)';

test.each([
  ['08P01', `${pooler} (08P01): name the server itself (docs/install.md)`, isPooler],
  ['0A000', `${pooler} (0A000): name the server itself (docs/install.md)`, isPooler],
  ['28P01', `${account} (28P01)`, correct],
  ['28000', `${account} (28000)`, correct],
  ['3D000', `${other} (3D000)`, correct],
  ['53300', `${other} (53300)`, now],
  ['57P03', `${other} (57P03)`, now],
])(
  'a connection refused with %s is no silence: health, log and check say so',
  async (code, problem, remedy) => {
    const url = await server(refusal(code));
    const { stores, lines } = openBoth(url);
    for (const store of [...stores, ...stores])
      expect(await schemaProblem(store, 'identity', 1)).toBe(problem);
    const event = problem.startsWith(account)
      ? 'Postgres account is unusable'
      : 'Postgres refuses connections';
    const line = expect.objectContaining({ level: 'warn', message: event, errorCode: code, problem });
    expect(lines).toEqual([line, line]);
    expect(await findingOf(url)).toBe(`POSTGRES_URL cannot log in as identity_rw (${code}): ${remedy}.`);
  },
);

test.each([
  ['08P01', 'A connection pooler stands before Postgres (08P01): name the server itself (docs/install.md)'],
  ['42P05', 'A connection pooler stands before Postgres (42P05): name the server itself (docs/install.md)'],
  ['57P01', 'Postgres refuses (57P01)'],
])('a connection that is made and refuses its first statement with %s says so', async (code, problem) => {
  const { stores } = openBoth(await server(welcome, refusal(code)));
  for (const store of stores) expect(await schemaProblem(store, 'identity', 1)).toBe(problem);
});

test('a server that ends the connection without a word does not answer', async () => {
  const { stores } = openBoth(await server(Buffer.alloc(0)));
  for (const store of stores)
    expect(await schemaProblem(store, 'identity', 1)).toBe('Postgres does not answer');
});
