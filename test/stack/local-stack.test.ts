// The local stack as its user meets it: one start, one stop, nothing left behind whatever dies in it.
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { visit } from '@course-exchange/testcontainers/browser';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { command, newRunDirectory, type PrivateStack, startStack, untilGone } from '../support/stack.ts';
import { readStackFile, userWho } from '../support/stack-file.ts';
import { childrenOf } from '../support/system.ts';
import { openPartnerBrowser } from '../support/user-agent.ts';

/** One directory for all: only one start makes a database. Its path is too long for a socket below it. */
const parent = newRunDirectory();
const directory = join(parent, 'x'.repeat(90));
mkdirSync(directory);
let stack: PrivateStack;

async function end(): Promise<void> {
  stack.supervisor.stdin?.end();
  await stack.ended;
}
afterAll(() => rmSync(parent, { recursive: true, force: true, maxRetries: 10 }));

/** Presses Ctrl-C and expects every process to be gone in time. */
async function interrupt(stack: PrivateStack): Promise<void> {
  stack.supervisor.kill('SIGINT');
  expect(await untilGone(Object.values(stack.description.processes ?? {}), 10_000)).toBeLessThan(10_000);
  expect(await stack.ended).toBe(0);
}

const names = ['demo-partner', 'design-catalog', 'gateway', 'identity', 'postgres', 'redis'];

/** Operators and the feed are answered there, by this account alone. */
function expectOwnSockets({ description }: PrivateStack): readonly string[] {
  const sockets = Object.values(description.operator ?? {}).map((address) => {
    expect(address).toMatch(/^unix:/);
    return address.slice('unix:'.length);
  });
  expect(sockets).toHaveLength(2);
  for (const socket of sockets) {
    expect(statSync(socket)).toMatchObject({ mode: 0o140600, uid: process.getuid?.() });
    expect(statSync(dirname(socket)).mode & 0o777).toBe(0o700);
  }
  return sockets;
}

describe('a watched stack with a rehearsal', () => {
  let sockets: readonly string[];
  beforeAll(async () => {
    stack = await startStack(['--watch', '--rehearse', 'many-events'], directory);
    sockets = expectOwnSockets(stack);
  });
  afterAll(end);

  test('a second start says where the first one runs', async () => {
    expect(Object.keys(stack.description.processes ?? {}).sort()).toEqual(names);
    const second = await command(['start', '--port', '0', '--run-dir', directory]);
    expect(second).toMatchObject({ code: 1 });
    expect(second.output).toContain(`already running at ${stack.description.issuer}`);
  });

  test('a process that died is named, and a saved file restarts its own', async () => {
    for (const pid of childrenOf(stack.description.processes?.gateway ?? 0)) process.kill(pid, 'SIGKILL');
    await expect
      .poll(() => stack.output())
      .toContain('gateway has ended and starts again when a file is saved.');
    await expectRestartOnSave(stack, 'gateway', 'identity');
  });

  test('status knows every process', async () => {
    // What has just begun to listen is not ready yet.
    await expect.poll(async () => (await command(['status', '--run-dir', directory])).code).toBe(0);
    const status = await command(['status', '--run-dir', directory]);
    expect(status.output).toContain(`${stack.description.issuer} is ready.`);
    for (const name of names) expect(status.output).toMatch(new RegExp(`${name} .* answers`));
  });

  test('Ctrl-C ends all within 10 s, the rehearsal with its verdict, and takes stack.json away', async () => {
    const { demoPartner = '' } = stack.description;
    const anna = userWho(stack.description, 'typical season');
    const browser = openPartnerBrowser(demoPartner);
    await browser.connect((request, jar) => visit(request, anna, jar));
    await browser.read();
    await interrupt(stack);
    expect(stack.output()).toContain(
      'Rehearsal: many-events: played. No request shows its duty: Accept the whole event list',
    );
    expect(existsSync(stack.file)).toBe(false);
    for (const socket of sockets) rmSync(dirname(socket), { recursive: true, force: true });
  });
});

describe('a process that dies', () => {
  afterEach(end);

  test('is named with its last log lines; Ctrl-C ends processes that ignore SIGTERM too', async () => {
    stack = await startStack(['--restart-after', '60000'], directory);
    expectOwnSockets(stack);
    const lastLines = { redis: /Ready to accept connections/, 'demo-partner': /"message":"listening"/ };
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
    await expect.poll(() => stack.output()).toContain('demo-partner starts again in 60 s');
    for (const name of ['identity', 'postgres']) stack.signal(name, 'SIGSTOP');
    await interrupt({ ...stack, description: readStackFile(stack.file) });
  });

  test('is started again at the same address; one that keeps dying stays down', async () => {
    stack = await startStack(['--restart-after', '100'], directory);
    for (const name of ['identity', 'redis']) await killUntilReplaced(stack, name);
    await expect.poll(async () => (await command(['status', '--run-dir', stack.runDirectory])).code).toBe(0);
    for (let death = 0; death < 3; death++) await killUntilReplaced(stack, 'gateway');
    stack.signal('gateway', 'SIGKILL');
    await expect.poll(() => stack.output()).toContain('gateway keeps dying and stays down.');
    await interrupt({ ...stack, description: readStackFile(stack.file) });
  });
});

/** Saves a file as an editor does: the same content, written now. */
async function expectRestartOnSave(stack: PrivateStack, saved: string, other: string): Promise<void> {
  const starts = (name: string) =>
    readFileSync(join(stack.runDirectory, 'logs', `${name}.log`), 'utf8').split('"message":"listening"')
      .length;
  const before = [starts(saved), starts(other)];
  const now = new Date();
  utimesSync(resolve(import.meta.dirname, `../../services/${saved}/src/main.ts`), now, now);
  await expect.poll(() => starts(saved)).toBeGreaterThan(before[0] ?? 0);
  expect(starts(other)).toBe(before[1]);
}

async function killUntilReplaced(stack: PrivateStack, name: string): Promise<void> {
  const before = readStackFile(stack.file).processes?.[name];
  stack.signal(name, 'SIGKILL');
  await expect.poll(() => readStackFile(stack.file).processes?.[name]).not.toBe(before);
}
