// The local stack as its user meets it: one start, one stop, nothing left behind whatever ends it.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, expect, test } from 'vitest';
import { entry, newRunDirectory, type PrivateStack, startStack } from '../support/stack.ts';
import { readStackFile } from '../support/stack-file.ts';
import { processesOf, untilGone } from './processes.ts';

const open: PrivateStack[] = [];
const directories: string[] = [];

afterEach(async () => {
  for (const stack of open.splice(0)) await stack.stop();
  for (const directory of directories.splice(0)) {
    await command(['stop', '--run-dir', directory]);
    rmSync(directory, { recursive: true, force: true });
  }
});

async function start(...words: string[]): Promise<PrivateStack> {
  const stack = await startStack(words);
  open.push(stack);
  return stack;
}

function newDirectory(): string {
  const directory = newRunDirectory();
  directories.push(directory);
  return directory;
}

/** Runs one command of the stack to its end. */
async function command(words: readonly string[]): Promise<{ code: number; output: string }> {
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [entry, ...words]);
    return { code: 0, output: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, output: stdout + stderr };
  }
}

const names = ['demo-partner', 'design-catalog', 'gateway', 'identity', 'postgres', 'redis'];

test('a second start says where the first one runs, and status knows every process', async () => {
  const stack = await start();
  expect(Object.keys(stack.description.processes ?? {}).sort()).toEqual(names);
  const second = await command(['start', '--port', '0', '--run-dir', stack.runDirectory]);
  expect(second).toMatchObject({ code: 1 });
  expect(second.output).toContain(`already running at ${stack.description.issuer}`);
  const status = await command(['status', '--run-dir', stack.runDirectory]);
  expect(status.code).toBe(0);
  for (const name of names) expect(status.output).toMatch(new RegExp(`${name} .* answers`));
});

test('SIGINT ends every process within 10 s and takes stack.json away', async () => {
  const stack = await start();
  stack.supervisor.kill('SIGINT');
  expect(await untilGone(processesOf(stack), 10_000)).toBeLessThan(10_000);
  expect(await stack.ended).toBe(0);
  expect(existsSync(stack.file)).toBe(false);
});

test('processes that do not hear SIGTERM are ended within 10 s too', async () => {
  const stack = await start();
  for (const name of ['identity', 'redis', 'demo-partner']) stack.signal(name, 'SIGSTOP');
  stack.supervisor.kill('SIGINT');
  expect(await untilGone(processesOf(stack), 10_000)).toBeLessThan(10_000);
});

test('SIGKILL of the supervisor leaves nothing, and the next start finds the data again', async () => {
  const directory = newDirectory();
  expect(await command(['start', '--detach', '--port', '0', '--run-dir', directory])).toMatchObject({
    code: 0,
  });
  const file = join(directory, 'stack.json');
  const { processes, issuer } = readStackFile(file);
  const keys = await (await fetch(`${issuer}/.well-known/jwks.json`)).text();
  process.kill((JSON.parse(readFileSync(file, 'utf8')) as { supervisor: number }).supervisor, 'SIGKILL');
  await untilGone(Object.values(processes ?? {}), 10_000);
  expect(await command(['status', '--run-dir', directory])).toMatchObject({ code: 1 });
  expect(await command(['start', '--detach', '--port', '0', '--run-dir', directory])).toMatchObject({
    code: 0,
  });
  const again = readStackFile(file);
  expect(again.issuer).toBe(issuer);
  expect(await (await fetch(`${issuer}/.well-known/jwks.json`)).text()).toBe(keys);
  expect(await command(['stop', '--run-dir', directory])).toMatchObject({ code: 0 });
  await untilGone(Object.values(again.processes ?? {}), 0);
});

test.each(['redis', 'design-catalog'])(
  'when %s dies it is named with its last log lines, the rest goes on, and Ctrl-C ends all',
  async (name) => {
    const stack = await start('--restart-after', '60000');
    stack.signal(name, 'SIGKILL');
    await expect.poll(() => stack.output()).toContain(`${name} has died (ended by SIGKILL)`);
    expect(stack.output()).toMatch(
      name === 'redis' ? /Ready to accept connections/ : /"message":"listening"/,
    );
    const { issuer, jwks } = await publicFacts(stack);
    expect([issuer, jwks]).toEqual([200, 200]);
    expect(await command(['status', '--run-dir', stack.runDirectory])).toMatchObject({ code: 1 });
    stack.supervisor.kill('SIGINT');
    expect(await untilGone(processesOf(stack), 10_000)).toBeLessThan(10_000);
    expect(await stack.ended).toBe(0);
  },
);

async function publicFacts({ description }: PrivateStack): Promise<{ issuer: number; jwks: number }> {
  const status = async (path: string) => (await fetch(`${description.issuer}${path}`)).status;
  return {
    issuer: await status('/.well-known/openid-configuration'),
    jwks: await status('/.well-known/jwks.json'),
  };
}

test('a process that dies is started again at the same address', async () => {
  const stack = await start('--restart-after', '100');
  for (const name of ['identity', 'redis']) {
    stack.signal(name, 'SIGKILL');
    await expect
      .poll(() => readStackFile(stack.file).processes?.[name], { timeout: 15_000 })
      .not.toBe(stack.description.processes?.[name]);
  }
  await expect
    .poll(async () => (await command(['status', '--run-dir', stack.runDirectory])).code, { timeout: 15_000 })
    .toBe(0);
});

test('what keeps dying stays down, and Ctrl-C still ends the rest', async () => {
  const stack = await start('--restart-after', '0');
  for (let death = 0; death < 4; death++) {
    const before = readStackFile(stack.file).processes?.gateway;
    stack.signal('gateway', 'SIGKILL');
    if (death === 3) continue;
    await expect
      .poll(() => readStackFile(stack.file).processes?.gateway, { timeout: 15_000 })
      .not.toBe(before);
  }
  await expect.poll(() => stack.output()).toContain('gateway keeps dying and stays down.');
  stack.supervisor.kill('SIGINT');
  expect(await untilGone(processesOf(stack), 10_000)).toBeLessThan(10_000);
});

test('--reset begins anew: keys and consents of the run before are gone', async () => {
  const directory = newDirectory();
  const words = ['start', '--detach', '--port', '0', '--run-dir', directory];
  const keysAfter = async (...more: readonly string[]): Promise<string> => {
    expect(await command([...words, ...more])).toMatchObject({ code: 0 });
    const { issuer } = readStackFile(join(directory, 'stack.json'));
    const keys = await (await fetch(`${issuer}/.well-known/jwks.json`)).text();
    expect(await command(['stop', '--run-dir', directory])).toMatchObject({ code: 0 });
    return keys;
  };
  const first = await keysAfter();
  expect(await keysAfter()).toBe(first);
  expect(await keysAfter('--reset')).not.toBe(first);
});

test('a port that is taken is told in one sentence, and nothing is started or deleted', async () => {
  const server = createServer();
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
  });
  try {
    const result = await command(['start', '--reset', '--port', String(port), '--run-dir', newDirectory()]);
    expect(result.code).toBe(1);
    expect(result.output).toContain(`Port ${port} is taken by another program.`);
  } finally {
    server.close();
  }
});

test('of two starts at once one runs and the other says so', async () => {
  const directory = newDirectory();
  const words = ['start', '--detach', '--port', '0', '--run-dir', directory];
  const results = await Promise.all([command(words), command(words)]);
  expect(results.map(({ code }) => code).sort()).toEqual([0, 1]);
  expect(results.find(({ code }) => code === 1)?.output).toMatch(/already (starting|running) at/);
});

test('a --seed FILE adds partners and users; a bad one is refused whole with every mistake', async () => {
  const directory = newDirectory();
  const file = join(directory, 'seed.json');
  const partner = {
    name: 'Seeded',
    clientId: 'seeded',
    clientSecret: 'A'.repeat(43),
    redirectUris: ['https://a.example/cb'],
    scopes: ['openid'],
    active: true,
  };
  const user = {
    email: 'seeded@example.com',
    password: 'seeded',
    sub: 'seeded-0001',
    name: 'S',
    about: 'seeded',
  };
  writeFileSync(
    file,
    JSON.stringify({ partners: [{ ...partner, redirectUris: ['https://a/?b'] }], users: [{}] }),
  );
  const words = ['start', '--detach', '--port', '0', '--run-dir', directory, '--seed', file];
  const refused = await command(words);
  expect(refused.code).toBe(1);
  expect(refused.output).toContain('partners[0].redirectUris');
  expect(refused.output).toContain('users[0].email');
  writeFileSync(file, JSON.stringify({ partners: [partner], users: [user] }));
  expect(await command(words)).toMatchObject({ code: 0 });
  const stack = readStackFile(join(directory, 'stack.json'));
  expect(stack.partners).toContainEqual(partner);
  expect(stack.users.map(({ email }) => email)).toContain('seeded@example.com');
});
