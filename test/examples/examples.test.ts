// Go and Java are skipped on a machine that lacks go, or java and mvn; hosted CI runs them. The clients of docs/examples against
// a real system: each connects a user, reads, refreshes, and keeps its duties in every rehearsal.
import { execFile, spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { choosePorts } from '@course-exchange/local-stack/free-ports';
import { visit } from '@course-exchange/testcontainers/browser';
import { rehearse } from '@course-exchange/testcontainers/rehearsal/rehearse';
import { type ScenarioName, scenarios } from '@course-exchange/testcontainers/rehearsal/scenarios';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { en } from '../../services/gateway/src/pages/messages/en.ts';
import { root } from '../check/step.ts';
import { type RehearsedSystem, startRehearsedSystem } from '../clients/rehearsed-system.ts';
import { silentCallback, useBrowser } from '../e2e/browser.ts';
import { findProgram } from '../support/programs.ts';
import { partnerFor, userWho } from '../support/stack-file.ts';
import { openPartnerBrowser } from '../support/user-agent.ts';

interface Program {
  readonly command: string;
  readonly words: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Brings the client's libraries, and says how it is run. */
type Preparation = (folder: string) => Promise<Program>;

const run = promisify(execFile);
const has = (program: string) => spawnSync(program, ['--version']).error === undefined;
const tools: Readonly<Record<string, readonly string[]>> = { go: ['go'], java: ['java', 'mvn'] };
/** Then the client is skipped, in a line that .ci/run repeats at its end. */
function lacksTools(name: string): boolean {
  const missing = (tools[name] ?? []).filter((tool) => !has(tool));
  if (missing.length > 0) console.log(`\nNOT RUN example ${name}: no ${missing.join(', no ')}`);
  return missing.length > 0;
}
const home = mkdtempSync(join(tmpdir(), 'examples-'));
let rehearsed: RehearsedSystem;
const browser = useBrowser();

beforeAll(async () => {
  rehearsed = await startRehearsedSystem();
});
afterAll(async () => {
  await rehearsed?.stop();
  rmSync(home, { recursive: true });
});

const clients = {
  node: async (folder) => {
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(join(root, 'test/node_modules/openid-client'), join(folder, 'node_modules/openid-client'));
    return { command: process.execPath, words: ['main.js'] };
  },
  python: async () => ({ ...(await findProgram('python')), words: ['main.py'] }),
  go: async (folder) => {
    await run('go', ['build', '-o', 'client', '.'], { cwd: folder });
    return { command: './client', words: [] };
  },
  java: async (folder) => {
    await run('mvn', ['--quiet', '--batch-mode', 'dependency:copy-dependencies'], { cwd: folder });
    return { command: 'java', words: ['--class-path', 'target/dependency/*', 'Main.java'] };
  },
} satisfies Readonly<Record<string, Preparation>>;

/** The first read succeeds in these; in the others the client has to connect the user again. */
const connected: readonly ScenarioName[] = [
  'refresh-answer-slow',
  'callback-twice',
  'keys-rotated',
  'access-token-refused',
  'event-gone',
  'many-events',
  'email-changed',
];

for (const [name, prepare] of Object.entries(clients))
  test.skipIf(lacksTools(name))(`${name}: the client keeps every duty`, { timeout: 300_000 }, async () => {
    const address = await startClient(name, prepare);
    for (const scenario of Object.keys(scenarios) as ScenarioName[])
      await rehearse(rehearsed.proxy, scenario, () => walk(address, scenario));
  });

test('python: the client connects in a real browser, which sends the cookies of one host to every port', async () => {
  const address = await startClient('python', clients.python);
  const page = await browser.person();
  await page.goto(`${address}/connect`);
  // Nobody has asked this user yet.
  const { email, password } = userWho(rehearsed.system.stack, '730 designs');
  await page.getByLabel(en.login.email).fill(email);
  await page.getByLabel(en.login.password).fill(password);
  await page.getByRole('button', { name: en.login.button, exact: true }).click();
  await page.getByRole('button', { name: en.consent.allow, exact: true }).click();
  await page.waitForURL(`${silentCallback}?*`);
  const { pathname, search } = new URL(page.url());
  await page.goto(`${address}${pathname}${search}`);
  const { items } = JSON.parse((await page.textContent('body')) ?? '') as { items: readonly unknown[] };
  expect(items).toHaveLength(1);
});

/** Resolves with the address at which it listens; it ends with the test. */
async function startClient(name: string, prepare: Preparation): Promise<string> {
  const { stack } = rehearsed.system;
  const folder = mkdtempSync(join(home, name));
  cpSync(join(root, 'docs/examples', name), folder, { recursive: true });
  const { command, words, env } = await prepare(folder);
  const { clientId: CLIENT_ID, clientSecret: CLIENT_SECRET } = partnerFor(stack, 'openid');
  const { http } = await choosePorts(['http']);
  // An access token lives for 900 s: each read refreshes.
  const registration = { ISSUER: stack.issuer, CLIENT_ID, CLIENT_SECRET };
  const child = spawn(command, words, {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env, ...registration, PORT: String(http), REFRESH_BEFORE: '900' },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const { value } = await createInterface(child.stdout)[Symbol.asyncIterator]().next();
  expect(value).toBe('Open http://127.0.0.1:9099/connect');
  return `http://127.0.0.1:${http}`;
}

/** Connects, reads events, designs of the first, and events again; then brings the callback once more. */
async function walk(address: string, scenario: ScenarioName): Promise<void> {
  const browser = openPartnerBrowser(address);
  const user = userWho(rehearsed.system.stack, 'typical season');
  const { callback, arrival } = await browser.connect((request, jar) => visit(request, user, jar));
  const { answer: first } = arrival;
  expect(first.status, scenario).toBe(connected.includes(scenario) ? 200 : 400);
  if (first.status === 200) {
    const { items } = first.json() as { items: readonly { id: string }[] };
    expect(items).toHaveLength(scenario === 'many-events' ? 2_000 : 12);
    await browser.load(`/events/${items[0]?.id}/designs`);
  }
  if (scenario === 'event-gone') return;
  await browser.load('/events');
  expect((await browser.load(callback)).answer.status, scenario).toBe(400);
}
