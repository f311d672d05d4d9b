// The local stack as its user meets it: one start, one stop, nothing left behind whatever dies in it.
import { existsSync, mkdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { newRunDirectory, type PrivateStack, startStack } from '../support/stack.ts';
import { readStackFile } from '../support/stack-file.ts';
import { command, processesOf, untilGone } from './local-command.ts';

/** One directory for all: only the first start makes a database and loads the demo data. */
const directory = newRunDirectory();
let stack: PrivateStack;

afterEach(async () => {
  stack.supervisor.stdin?.end();
  await stack.ended;
});
afterAll(() => rmSync(directory, { recursive: true, force: true, maxRetries: 10 }));

/** Presses Ctrl-C and expects every process to be gone in time. */
async function interrupt(stack: PrivateStack): Promise<void> {
  stack.supervisor.kill('SIGINT');
  expect(await untilGone(processesOf(stack), 10_000)).toBeLessThan(10_000);
  expect(await stack.ended).toBe(0);
}

const names = ['demo-partner', 'design-catalog', 'gateway', 'identity', 'postgres', 'redis'];

test('a second start says where the first one runs, status knows every process, SIGINT ends all within 10 s and takes stack.json away', async () => {
  stack = await startStack([], directory);
  expect(Object.keys(stack.description.processes ?? {}).sort()).toEqual(names);
  const second = await command(['start', '--port', '0', '--run-dir', stack.runDirectory]);
  expect(second).toMatchObject({ code: 1 });
  expect(second.output).toContain(`already running at ${stack.description.issuer}`);
  const status = await command(['status', '--run-dir', stack.runDirectory]);
  expect(status.code).toBe(0);
  expect(status.output).toContain(`${stack.description.issuer} is ready.`);
  for (const name of names) expect(status.output).toMatch(new RegExp(`${name} .* answers`));
  await interrupt(stack);
  expect(existsSync(stack.file)).toBe(false);
});

test.each([
  ['in the run directory', ''],
  ['elsewhere, where its path is too long', 'x'.repeat(90)],
])('operators and the feed are answered at sockets of this account alone: %s', async (_where, below) => {
  const runDirectory = join(directory, below);
  mkdirSync(runDirectory, { recursive: true });
  stack = await startStack([], runDirectory);
  const sockets = Object.values(stack.description.operator ?? {}).map((address) => {
    expect(address).toMatch(/^unix:/);
    return address.slice('unix:'.length);
  });
  expect(sockets).toHaveLength(2);
  for (const socket of sockets) {
    expect(statSync(socket)).toMatchObject({ mode: 0o140600, uid: process.getuid?.() });
    expect(statSync(dirname(socket)).mode & 0o777).toBe(0o700);
  }
  await interrupt(stack);
  if (below !== '') for (const socket of sockets) rmSync(dirname(socket), { recursive: true, force: true });
});

test('processes that do not hear SIGTERM are ended within 10 s too', async () => {
  stack = await startStack([], directory);
  for (const name of ['identity', 'redis', 'demo-partner']) stack.signal(name, 'SIGSTOP');
  await interrupt(stack);
});

test('what dies is named with its last log lines, the rest goes on, and Ctrl-C ends all', async () => {
  stack = await startStack(['--restart-after', '60000'], directory);
  const lastLines = { redis: /Ready to accept connections/, 'design-catalog': /"message":"listening"/ };
  for (const [name, lines] of Object.entries(lastLines)) {
    stack.signal(name, 'SIGKILL');
    await expect.poll(() => stack.output()).toContain(`${name} has died (ended by SIGKILL)`);
    expect(stack.output()).toMatch(lines);
    for (const path of ['/.well-known/openid-configuration', '/.well-known/jwks.json'])
      expect((await fetch(`${stack.description.issuer}${path}`)).status).toBe(200);
    const status = await command(['status', '--run-dir', stack.runDirectory]);
    expect(status.code).toBe(1);
    expect(status.output).toContain(`${stack.description.issuer} is degraded.`);
  }
  await interrupt(stack);
});

test('what dies is started again at the same address; what keeps dying stays down, and Ctrl-C still ends the rest', async () => {
  stack = await startStack(['--restart-after', '100'], directory);
  for (const name of ['identity', 'redis']) await killUntilReplaced(stack, name);
  await expect.poll(async () => (await command(['status', '--run-dir', stack.runDirectory])).code).toBe(0);
  for (let death = 0; death < 3; death++) await killUntilReplaced(stack, 'gateway');
  stack.signal('gateway', 'SIGKILL');
  await expect.poll(() => stack.output()).toContain('gateway keeps dying and stays down.');
  await interrupt({ ...stack, description: readStackFile(stack.file) });
});

test('with --watch a saved file restarts its process within a second, and no other; also one that has died', async () => {
  stack = await startStack(['--watch', '--restart-after', '60000'], directory);
  const before = readStackFile(stack.file).processes ?? {};
  const gateway = before.gateway ?? 0;
  save('services/gateway/src/app.ts');
  await untilGone([gateway], 1_000);
  await expect.poll(() => readStackFile(stack.file).processes?.gateway).not.toBe(gateway);
  expect((await fetch(`${stack.description.issuer}/.well-known/jwks.json`)).status).toBe(200);
  stack.signal('demo-partner', 'SIGKILL');
  await expect.poll(() => stack.output()).toContain('demo-partner starts again in 60 s');
  save('services/demo-partner/src/pages.ts');
  await expect.poll(() => stack.output()).toContain('demo-partner runs again.');
  const { gateway: _, 'demo-partner': __, ...others } = before;
  expect(readStackFile(stack.file).processes).toMatchObject(others);
  await interrupt({ ...stack, description: readStackFile(stack.file) });
});

/** As an editor does: the same content, written now. */
function save(path: string): void {
  const now = new Date();
  utimesSync(resolve(import.meta.dirname, '../..', path), now, now);
}

async function killUntilReplaced(stack: PrivateStack, name: string): Promise<void> {
  const before = readStackFile(stack.file).processes?.[name];
  stack.signal(name, 'SIGKILL');
  await expect.poll(() => readStackFile(stack.file).processes?.[name]).not.toBe(before);
}
