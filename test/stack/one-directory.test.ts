// The life of one run directory, test after test: what a stop, a crash and a restart keep, and what --reset does.
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { newRunDirectory } from '../support/stack.ts';
import { readStackFile } from '../support/stack-file.ts';
import { command, untilGone } from './local-command.ts';

const directory = newRunDirectory();
const stackFile = join(directory, 'stack.json');
const seedFile = join(directory, 'seed.json');
const words = ['start', '--detach', '--port', '0', '--run-dir', directory];

afterAll(async () => {
  await command(['stop', '--run-dir', directory]);
  rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
});

async function start(...more: readonly string[]): Promise<string> {
  const { code, output } = await command([...words, ...more]);
  expect(code, output).toBe(0);
  return output;
}

async function stop(): Promise<void> {
  const { processes } = readStackFile(stackFile);
  expect(await command(['stop', '--run-dir', directory])).toMatchObject({ code: 0 });
  await untilGone(Object.values(processes ?? {}), 0);
}

async function publishedKeys(): Promise<string> {
  return (await fetch(`${readStackFile(stackFile).issuer}/.well-known/jwks.json`)).text();
}

const partner = {
  name: 'Seeded',
  clientId: 'seeded',
  clientSecret: 'short',
  redirectUris: ['https://a.example/cb'],
  scopes: ['openid'],
  active: true,
};
const user = { email: 'seeded@example.com', password: 'seeded', sub: '1', name: 'S', about: 'seeded' };
let keys: string;

test('a taken port is reported in one sentence, and nothing is started or deleted', async () => {
  const server = createServer();
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
  });
  try {
    const result = await command(['start', '--reset', '--port', String(port), '--run-dir', directory]);
    expect(result.code).toBe(1);
    expect(result.output).toContain(`Port ${port} is taken by another program.`);
  } finally {
    server.close();
  }
});

test('of two starts at once one runs and the other says so', async () => {
  const results = await Promise.all([command(words), command(words)]);
  expect(results.map(({ code }) => code).sort()).toEqual([0, 1]);
  const refused = results.find(({ code }) => code === 1)?.output;
  expect(refused).toMatch(/already (starting|running) at/);
  expect(refused).toContain(`npx --yes pnpm@12 stop --run-dir ${directory}`);
});

test('in the background the accounts are shown to the caller and not written to the log', async () => {
  const log = readFileSync(join(directory, 'logs', 'supervisor.log'), 'utf8');
  const [first] = readStackFile(stackFile).users;
  expect(log).toContain('The stack runs.');
  expect(log).not.toContain(first?.email);
  expect(log).not.toContain(first?.password);
});

test('SIGKILL of the supervisor leaves nothing, and the next start, with a --seed FILE, finds the data again', async () => {
  const { processes, issuer } = readStackFile(stackFile);
  keys = await publishedKeys();
  process.kill((JSON.parse(readFileSync(stackFile, 'utf8')) as { supervisor: number }).supervisor, 'SIGKILL');
  await untilGone(Object.values(processes ?? {}), 10_000);
  expect(await command(['status', '--run-dir', directory])).toMatchObject({ code: 1 });
  const bad = { partners: [{ ...partner, redirectUris: ['https://h:99999/cb'] }], users: [{}] };
  writeFileSync(seedFile, JSON.stringify(bad));
  const refused = await command([...words, '--seed', seedFile]);
  expect(refused.code).toBe(1);
  for (const mistake of ['partners[0].redirectUris', 'Its host or port is not valid.', 'users[0].email'])
    expect(refused.output).toContain(mistake);
  writeFileSync(seedFile, JSON.stringify({ partners: [partner], users: [user] }));
  const output = await start('--seed', seedFile);
  expect(output).toContain(readStackFile(stackFile).users[0]?.password);
  expect(output).toContain(`npx --yes pnpm@12 stop --run-dir ${directory}`);
  expect(readStackFile(stackFile).issuer).toBe(issuer);
  expect(await publishedKeys()).toBe(keys);
  expectSeeded();
  await stop();
});

function expectSeeded(): void {
  const stack = readStackFile(stackFile);
  expect(stack.partners).toContainEqual(partner);
  expect(stack.users.map(({ email }) => email)).toContain(user.email);
}

test('what was seeded is named after a start without --seed too', async () => {
  await start();
  expectSeeded();
  expect(statSync(join(directory, 'data', 'seed.json')).mode & 0o777).toBe(0o600);
  await stop();
});

test('--reset starts from scratch: keys, consents and seeds of the previous run are gone', async () => {
  await start('--reset');
  expect(await publishedKeys()).not.toBe(keys);
  const stack = readStackFile(stackFile);
  expect(stack.partners.map(({ clientId }) => clientId)).not.toContain(partner.clientId);
  expect(stack.users.map(({ email }) => email)).not.toContain(user.email);
});
