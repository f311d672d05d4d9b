// The life of one run directory, test after test: what a stop, a crash, a killed launcher and a restart keep, and what --reset does.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { command, entry, newRunDirectory, untilGone } from '../support/stack.ts';
import { readStackFile } from '../support/stack-file.ts';

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

const inForeground = `"${process.execPath}" "${entry}" start --port 0 --run-dir "${directory}"`;

/** A program called npx that, as the real one does, has a shell between itself and what it runs. */
function npx(): string {
  const program = join(directory, 'bin', 'npx');
  mkdirSync(join(directory, 'bin'), { recursive: true });
  const script = `require('node:child_process').spawn('sh', ['-c', ${JSON.stringify(`${inForeground}; true`)}], { stdio: 'inherit' });`;
  writeFileSync(program, script);
  return program;
}

/** Started by another program that ends by a signal, the stack runs as `whileUp` expects, and all of it is gone in time. */
async function killLauncher(
  command: string,
  args: readonly string[],
  signal: NodeJS.Signals,
  whileUp: (output: string) => unknown,
): Promise<void> {
  const launcher: ChildProcess = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  launcher.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString('utf8');
  });
  await expect.poll(() => output, { timeout: 60_000 }).toContain('Ctrl-C ends all of it.');
  await whileUp(output);
  const { processes, supervisor } = started();
  expect(supervisor).not.toBe(launcher.pid);
  launcher.kill(signal);
  await untilGone([...Object.values(processes ?? {}), supervisor], 10_000);
  expect(existsSync(stackFile)).toBe(false);
  expect(output).toContain('Stopping (the program that started it is gone)');
}

function started() {
  const { supervisor } = JSON.parse(readFileSync(stackFile, 'utf8')) as { supervisor: number };
  return { ...readStackFile(stackFile), supervisor };
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

test('one of two starts at once runs and the other says so', async () => {
  const results = await Promise.all([command(words), command(words)]);
  expect(results.map(({ code }) => code).sort()).toEqual([0, 1]);
  const refused = results.find(({ code }) => code === 1)?.output;
  expect(refused).toMatch(/already (starting|running) at/);
  expect(refused).toContain(`npx --yes pnpm@12 stop --run-dir ${directory}`);
});

test('a start in the background shows the accounts to the caller and does not log them', async () => {
  const log = readFileSync(join(directory, 'logs', 'supervisor.log'), 'utf8');
  const [first] = readStackFile(stackFile).users;
  expect(log).toContain('The stack runs.');
  expect(log).not.toContain(first?.email);
  expect(log).not.toContain(first?.password);
});

test('SIGKILL of the supervisor or of the shell around it leaves no process, and the data', async () => {
  const { processes, issuer, supervisor } = started();
  keys = await publishedKeys();
  process.kill(supervisor, 'SIGKILL');
  await untilGone(Object.values(processes ?? {}), 10_000);
  expect(await command(['status', '--run-dir', directory])).toMatchObject({ code: 1 });
  const bad = { partners: [{ ...partner, redirectUris: ['https://h:99999/cb'] }], users: [{}] };
  writeFileSync(seedFile, JSON.stringify(bad));
  const refused = await command([...words, '--seed', seedFile]);
  expect(refused.code).toBe(1);
  for (const mistake of ['partners[0].redirectUris', 'Its host or port is not valid.', 'users[0].email'])
    expect(refused.output).toContain(mistake);
  writeFileSync(seedFile, JSON.stringify({ partners: [partner], users: [user] }));
  const shell = ['-c', `${inForeground} --seed "${seedFile}"; true`];
  await killLauncher('sh', shell, 'SIGKILL', async (output) => {
    expect(output).toContain(readStackFile(stackFile).users[0]?.password);
    expect(readStackFile(stackFile).issuer).toBe(issuer);
    expect(await publishedKeys()).toBe(keys);
    expectSeeded();
  });
});

function expectSeeded(): void {
  const stack = readStackFile(stackFile);
  expect(stack.partners).toContainEqual(partner);
  expect(stack.users.map(({ email }) => email)).toContain(user.email);
}

test('seeded accounts are named after a start without --seed too; SIGTERM of the npx around it ends all', async () => {
  await killLauncher(process.execPath, [npx()], 'SIGTERM', expectSeeded);
  expect(statSync(join(directory, 'data', 'seed.json')).mode & 0o777).toBe(0o600);
});

test('--reset starts from scratch: keys, consents and seeds of the previous run are gone; stop ends all', async () => {
  const output = await start('--reset');
  expect(output).toContain(`npx --yes pnpm@12 stop --run-dir ${directory}`);
  expect(await publishedKeys()).not.toBe(keys);
  const stack = readStackFile(stackFile);
  expect(stack.partners.map(({ clientId }) => clientId)).not.toContain(partner.clientId);
  expect(stack.users.map(({ email }) => email)).not.toContain(user.email);
  await stop();
});
