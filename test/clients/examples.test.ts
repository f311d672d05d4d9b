// The clients of docs/examples before a real system: each connects a user, reads, refreshes, and keeps its duties in every
// rehearsal.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { choosePorts } from '@course-exchange/local-stack/free-ports';
import { visit } from '@course-exchange/testcontainers/browser';
import { rehearse } from '@course-exchange/testcontainers/rehearsal/rehearse';
import { type ScenarioName, scenarios } from '@course-exchange/testcontainers/rehearsal/scenarios';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from '../check/step.ts';
import { openPartnerBrowser } from '../support/partner-browser.ts';
import { partnerFor, userWho } from '../support/stack-file.ts';
import { type RehearsedSystem, startRehearsedSystem } from './rehearsed-system.ts';

interface Program {
  readonly command: string;
  readonly words: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Brings the client's libraries, and says how it is run. */
type Preparation = (folder: string) => Promise<Program>;

const home = mkdtempSync(join(tmpdir(), 'examples-'));
let rehearsed: RehearsedSystem;

beforeAll(async () => {
  rehearsed = await startRehearsedSystem();
});
afterAll(async () => {
  await rehearsed?.stop();
  rmSync(home, { recursive: true });
});

const clients: Readonly<Record<string, Preparation>> = {
  node: async (folder) => {
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(join(root, 'test/node_modules/openid-client'), join(folder, 'node_modules/openid-client'));
    return { command: process.execPath, words: ['main.js'] };
  },
};

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

test.each(Object.entries(clients))('%s: the client keeps every duty', async (name, prepare) => {
  const { stack } = rehearsed.system;
  const folder = join(home, name);
  cpSync(join(root, 'docs/examples', name), folder, { recursive: true });
  const { command, words, env } = await prepare(folder);
  const { clientId: CLIENT_ID, clientSecret: CLIENT_SECRET } = partnerFor(stack, 'openid');
  const { http } = await choosePorts(['http']);
  // An access token lives for 900 s: each read refreshes.
  const settings = {
    ISSUER: stack.issuer,
    CLIENT_ID,
    CLIENT_SECRET,
    PORT: String(http),
    REFRESH_BEFORE: '900',
  };
  const child = spawn(command, words, {
    cwd: folder,
    stdio: 'pipe',
    env: { ...process.env, ...env, ...settings },
  });
  try {
    const said = await Promise.race([once(child.stdout, 'data'), once(child.stderr, 'data')]);
    expect(String(said)).toBe('Open http://127.0.0.1:9099/connect\n');
    for (const scenario of Object.keys(scenarios) as ScenarioName[])
      await rehearse(rehearsed.proxy, scenario, () => walk(`http://127.0.0.1:${http}`, scenario));
  } finally {
    child.kill('SIGKILL');
  }
});

/** Connects, reads events, designs of the first, and events again; then brings the callback once more. */
async function walk(address: string, scenario: ScenarioName): Promise<void> {
  const browser = openPartnerBrowser(address);
  const user = userWho(rehearsed.system.stack, 'typical season');
  const callback = await browser.connect((request) => visit(request, user));
  const first = await browser.load('/events');
  expect(first.status, scenario).toBe(connected.includes(scenario) ? 200 : 400);
  if (first.status === 200) {
    const { items } = (await first.json()) as { items: readonly { id: string }[] };
    expect(items).toHaveLength(scenario === 'many-events' ? 2_000 : 12);
    await browser.load(`/events/${items[0]?.id}/designs`);
  }
  if (scenario === 'event-gone') return;
  await browser.load('/events');
  expect((await browser.callback(callback)).status, scenario).toBe(400);
}
