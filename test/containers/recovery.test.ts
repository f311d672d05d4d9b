// The drill of docs/recovery.md: real backups of both stores, changes after them, the loss, the restore, the fence. Then
// whatever had ended is tried: none of it is accepted.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Stores } from '@course-exchange/testcontainers/stores';
import type { StartedTestContainer } from 'testcontainers';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { read, section, shellBlocks } from '../docs/documents.ts';
import * as flow from '../support/flow.ts';
import { type Partner, partnersFor } from '../support/stack-file.ts';
import { type Departure, openUserAgent, type Page, type UserAgent } from '../support/user-agent.ts';
import {
  type Copy,
  copyFolder,
  destroy,
  query,
  type System,
  startPostgres,
  startRedis,
  startStores,
  startSystem,
} from './system.ts';

const waiting = { timeout: 60_000, interval: 200 };
const docker = process.env.DOCKER ?? 'docker';
const blocksOf = (heading: string) =>
  shellBlocks(section('docs/recovery.md', `## ${heading}`)).map((block) => block.trim());

const work = mkdtempSync(join(tmpdir(), 'course-exchange-recovery-'));
const refused = { status: 400, text: '{"error":"invalid_grant"}' };

let stores: Stores;
let system: System;
let postgres: StartedTestContainer;
let anna: flow.Caller;
let ben: flow.Caller;
let carla: flow.Caller;
let other: Partner;
/** Spent before any backup: no state of Redis accepts it. */
let dead: string;

const browser = (cookies?: UserAgent['cookies']) =>
  openUserAgent(system.stack.issuer, cookies === undefined ? {} : { cookies: new Map(cookies) });

beforeAll(async () => {
  stores = await startStores({
    postgres: async (network) => {
      postgres = await startPostgres(network, { parameters: archiving });
      await prepareArchive();
      return postgres;
    },
    redis: (network) => startRedis(network, { onDisk: true }),
  });
  system = await startSystem(stores);
  anna = await flow.openCaller(system.stack, 'typical season');
  ben = await flow.openCaller(system.stack, 'shares a stored');
  carla = await flow.openCaller(system.stack, 'no designs at all');
  [, other] = partnersFor(system.stack, 'openid', 'email', 'profile') as [Partner, Partner];
  dead = (await anna.newTokens()).refresh_token;
  await spend(dead);
});

afterAll(() => rmSync(work, { recursive: true, force: true }));

const answerOf = (words: string) => JSON.parse(onPage(`partnerctl ${words} --json`));

/** Its successor, by as many refreshes. */
async function spend(refreshToken: string, times = 1): Promise<string> {
  let last = refreshToken;
  for (let at = 0; at < times; at += 1) last = flow.tokensOf(await anna.refresh(last)).refresh_token;
  return last;
}

/** A token that was never issued, sent by the other partner: refused if its secret is good. */
const tryOther = (clientSecret = other.clientSecret) => {
  const form = { grant_type: 'refresh_token', refresh_token: 'none' };
  return flow.token(anna.discovery.token_endpoint, { ...other, clientSecret }, form);
};

/** What the person sees who begins, and who then sends the login form; `code` where there is no page. */
const begin = (agent: UserAgent) =>
  agent.visit(flow.authorizeUrl(anna.discovery.authorization_endpoint, anna.partner));
const shownIn = (at: Page | Departure) => {
  if (at.kind === 'departure') return 'code';
  if (flow.loginForm(at)) return 'login';
  return flow.formWith(at, 'decision', 'allow') ? 'consent' : 'other';
};
const seen = async (agent: UserAgent) => shownIn(await begin(agent));
async function seenAfterLogin(agent: UserAgent, { user }: flow.Caller): Promise<string> {
  const page = await begin(agent);
  return shownIn(page.kind === 'page' ? await flow.logIn(agent, page, user) : page);
}

async function signOut(agent: UserAgent): Promise<void> {
  const page = await agent.visit(`${system.stack.issuer}/sign-out`);
  const [form] = page.kind === 'page' ? page.forms : [];
  if (page.kind !== 'page' || form === undefined) throw new Error('No form to sign out with.');
  await agent.submit(page, form, {});
}

/** The services have found both stores again. */
async function untilAnswered(): Promise<void> {
  await vi.waitFor(async () => expect((await anna.refresh(dead)).status).toBe(400), waiting);
  await vi.waitFor(async () => expect(await seen(browser())).toBe('login'), waiting);
  await vi.waitFor(() => onPage('partnerctl key list'), waiting);
}

describe('Postgres and Redis restored', () => {
  const [backUp = ''] = blocksOf('What to save');
  const [restore = '', recovering = '', ...fence] = blocksOf('Postgres comes from a backup');
  /** Refresh tokens that were spent after the backup. */
  const spent: string[] = [];
  let code: Record<string, string>;
  let secret: { readonly added: string; readonly retired: string };
  let agents: Record<'open' | 'signedOut', UserAgent>;

  beforeAll(async () => {
    await inContainer(backUp);
    agents = { open: browser(), signedOut: browser() };
    // The archive alone knows of what follows.
    for (const [caller, agent] of [
      [anna, agents.open],
      [ben, agents.signedOut],
      [carla, browser()],
    ] as const)
      spent.push((await caller.newTokens(agent)).refresh_token);
    code = await anna.codeForm(agents.open);
    const added = answerOf(`client secret add ${other.clientId}`).secret;
    await untilArchived();
    const base = await copyFolder(postgres, '/backup');
    const data = await copyFolder(stores.containers.redis, '/data');
    await change(added);
    await lose(base, data);
  });

  /** What the backups do not know. */
  async function change(added: { readonly secretId: string; readonly secret: string }): Promise<void> {
    for (const token of spent) await spend(token, 3);
    expect((await anna.ask(code)).status).toBe(200);
    const before = browser(agents.signedOut.cookies);
    await signOut(agents.signedOut);
    agents.signedOut = before;
    onPage(`partnerctl consent withdraw --user ${ben.user.email} --client ${ben.partner.clientId} --yes`);
    onPage(`partnerctl user disable ${carla.user.email} --yes`);
    const { secrets } = answerOf(`client secret list ${other.clientId}`);
    const old = secrets.find(({ secretId }: typeof added) => secretId !== added.secretId).secretId;
    onPage(`partnerctl client secret retire ${other.clientId} ${old} --even-if-in-use --yes`);
    secret = { added: added.secret, retired: old };
  }

  async function lose(base: Copy, data: Copy): Promise<void> {
    const begun = performance.now();
    await Promise.all([destroy(postgres), destroy(stores.containers.redis)]);
    const logs = Object.values(system.containers).map(
      (container) => spawnSync(docker, ['logs', container.getId()], { maxBuffer: 1 << 28 }).stdout,
    );
    writeFileSync(join(work, 'identity.log'), Buffer.concat(logs));
    [postgres] = await Promise.all([
      startPostgres(stores.network, { restore: { copy: base, commands: restore } }),
      startRedis(stores.network, { restore: data }),
    ]);
    const promoted = () => inContainer(recovering);
    await vi.waitFor(async () => expect(await promoted()).toBe('f\n'), waiting);
    await untilAnswered();
    console.log(`figure: both stores lost and restored: ${Math.round(performance.now() - begun)} ms`);
  }

  test('tokens and secrets that ended since are good again, and archived data is there', async () => {
    // One of them: the others are to be as good until the fence.
    spent.push(await spend(spent[0] ?? ''));
    expect(await tryOther()).toMatchObject(refused);
    expect(await tryOther(secret.added)).toMatchObject(refused);
  });

  test('the fence ends it again, by the log: tokens, code, sessions, consent, user, secret; new flows work [R10.1, R11.2, R13.2, R13.3]', async () => {
    expect(onPage(fence.join('\n'))).toContain(`Changed user:${carla.user.sub} (user.disable)`);
    for (const token of spent) expect(await anna.refresh(token)).toMatchObject(refused);
    expect(await anna.ask(code)).toMatchObject(refused);
    for (const agent of Object.values(agents)) expect(await seen(agent)).toBe('login');
    expect(await seenAfterLogin(agents.signedOut, ben)).toBe('consent');
    expect(await seenAfterLogin(browser(), carla)).toBe('login');
    expect(await tryOther()).toMatchObject({ status: 401 });
    expect(await tryOther(secret.added)).toMatchObject(refused);
    const { entries } = answerOf('audit list --limit 100');
    const done = entries.map(({ change }: Entry) => `${change.action} ${change.object}`);
    const fenced = ['restore.fence installation', `secret.retire secret:${secret.retired}`];
    expect(done).toEqual(expect.arrayContaining(fenced));
    const { access_token, refresh_token } = await anna.newTokens();
    expect(await anna.events(access_token)).toMatchObject({ status: 200 });
    await spend(refresh_token);
  });

  test('the fence for Redis alone ends what is from before, and asks for no consent again', async () => {
    const { refresh_token } = await anna.newTokens(agents.open);
    onPage(blocksOf('Redis comes from a backup').join('\n'));
    expect(await anna.refresh(refresh_token)).toMatchObject(refused);
    expect(await seen(agents.open)).toBe('login');
    expect(await seenAfterLogin(agents.open, anna)).toBe('code');
  });
});

type Entry = Readonly<Record<'change', Readonly<Record<'action' | 'object', string>>>>;

/**
 * Runs a block of the page; its `partnerctl` is that of identity's container, as `kubectl exec -i` runs it. Gives what it
 * printed, and throws where a command of it fails.
 */
function onPage(block: string): string {
  const { identity } = system.containers;
  const run = `'${docker}' exec -i ${identity.getId()} /usr/local/bin/node /app/partnerctl.js "$@"`;
  const words = ['-euo', 'pipefail', '-c', `partnerctl() { ${run}; }\n${block}`];
  const { status, stdout, stderr } = spawnSync('bash', words, { cwd: work, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${block}\n${stderr}`);
  return stdout;
}

/** Settings of a server that archives as the page says, to `/backup`. */
const archiving = read('docs/recovery.md')
  .split('\n')
  .filter((line) => line.startsWith('archive_'))
  // On request alone: what is saved is not to depend on the time.
  .map((line) => line.replace(/ = '?/, '=').replace(/'$/, '').replace('timeout=60', 'timeout=0'));

async function prepareArchive(): Promise<void> {
  const content = read('test/containers/pg-basebackup.sh');
  await postgres.copyContentToContainer([{ content, target: '/opt/pg_basebackup', mode: 0o755 }]);
  await inContainer('mkdir -p /backup/wal && chown -R postgres /backup', 'root');
  await inContainer(ownProgramWhereItFits, 'root');
}

/** One that is older than the server, as Debian's, refuses it. */
const ownProgramWhereItFits = `version() { "$1" --version 2> /dev/null | grep -oE '[0-9]+' | head -n 1; }
if [ "$(version postgres)" = "$(version "$(PATH=\${PATH#/opt:} command -v pg_basebackup)")" ]; then rm /opt/pg_basebackup; fi`;

async function inContainer(block: string, user = 'postgres'): Promise<string> {
  const words = ['sh', '-euc', `PATH=/opt:$PATH\n${block}`];
  const { exitCode, output, stdout } = await postgres.exec(words, { user });
  if (exitCode !== 0) throw new Error(`In the container of Postgres:\n${block}\n${output}`);
  return stdout;
}

/** All that is written so far is in the archive. */
async function untilArchived(): Promise<void> {
  const switched = await query(postgres, 'select pg_walfile_name(pg_switch_wal())');
  const archived = () => query(postgres, 'select last_archived_wal from pg_stat_archiver');
  await vi.waitFor(async () => expect(await archived()).toEqual(switched), waiting);
}
