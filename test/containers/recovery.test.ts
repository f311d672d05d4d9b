// The drill of docs/recovery.md: real backups of both stores, changes after them, the loss, the restore, the fence. Then
// whatever had ended is tried: none of it is accepted.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { demoPartners, demoUsers } from '@course-exchange/local-stack/demo-accounts';
import type { StartedTestContainer } from 'testcontainers';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { discover, type Tokens } from '../support/flow.ts';
import type { Partner } from '../support/stack-file.ts';
import { openUserAgent, type UserAgent } from '../support/user-agent.ts';
import {
  archiving,
  blocksOf,
  docker,
  inContainer,
  prepareArchive,
  runBlock,
  untilArchived,
  waiting,
} from './backup.ts';
import { type Flows, openFlows } from './flows.ts';
import { type Copy, copyFolder, destroy } from './folders.ts';
import { walkThrough } from './login-walkthrough.ts';
import { type PostgresContainer, startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';
import { type Stores, type System, startStores, startSystem } from './system.ts';

const work = mkdtempSync(join(tmpdir(), 'course-exchange-recovery-'));
const demo = demoPartners('http://127.0.0.1:9000');
const partnerOf = (id: string) => demo.find(({ clientId }) => clientId === id) as Partner;
const [partner, other] = [partnerOf('ringside-results'), partnerOf('stable-diary')];
const { typical: anna, shares: ben, none: carla } = demoUsers;
const refused = { status: 400, text: '{"error":"invalid_grant"}' };

let stores: Stores;
let system: System;
let postgres: PostgresContainer;
let redis: StartedTestContainer;
let flows: Flows;
/** Spent before any backup: no state of Redis accepts it. */
let dead: string;

const browser = () => openUserAgent(system.issuer);

beforeAll(async () => {
  stores = await startStores({
    postgres: async (network) => {
      postgres = await startPostgres(network, { parameters: archiving });
      await prepareArchive(postgres.container);
      return postgres;
    },
    redis: (network) => startRedis(network, { onDisk: true }),
  });
  redis = stores.containers.redis;
  system = await startSystem(stores);
  flows = openFlows(await discover(system.issuer), partner);
  dead = (await flows.connect(browser(), anna)).refresh_token;
  await flows.spend(dead);
});

afterAll(() => rmSync(work, { recursive: true, force: true }));

const onPage = (block: string) => runBlock(system.containers.identity, work, block);
const answerOf = (words: string) => JSON.parse(onPage(`partnerctl ${words} --json`));

interface Key {
  readonly kid: string;
  readonly algorithm: string;
  readonly state: string;
}
const keys = () => answerOf('key list --all').keys as Key[];
const keyThat = (state: string) =>
  keys().find((key) => key.algorithm === 'ES256' && key.state === state)?.kid ?? '';

/** The services have found both stores again. */
async function untilAnswered(): Promise<void> {
  await vi.waitFor(async () => expect((await flows.refresh(dead)).status).toBe(400), waiting);
  await vi.waitFor(async () => expect(await flows.asksToLogIn(browser())).toBe(true), waiting);
  await vi.waitFor(keys, waiting);
}

describe('Postgres and Redis restored', () => {
  const [backUp = ''] = blocksOf('What to save');
  const [restore = '', recovering = '', fence = ''] = blocksOf('Postgres comes from a backup');
  /** Refresh tokens that were spent after the backup. */
  const spent: string[] = [];
  let access: string;
  let code: string;
  let secret: { readonly added: string; readonly retired: string };
  let key: string;
  let agents: Record<'open' | 'signedOut', UserAgent>;

  beforeAll(async () => {
    await inContainer(postgres.container, backUp);
    agents = { open: browser(), signedOut: browser() };
    // Of what follows the archive alone knows.
    const connected: Tokens[] = [
      await flows.connect(agents.open, anna),
      await flows.connect(agents.open, anna),
      await flows.connect(agents.signedOut, ben),
      await flows.connect(browser(), carla),
    ];
    code = await flows.code(agents.open, anna);
    const added = answerOf(`client secret add ${other.clientId}`).secret;
    await untilArchived(postgres);
    const copies = [
      await copyFolder(postgres.container, '/backup'),
      await copyFolder(redis, '/data'),
    ] as const;
    spent.push(...connected.map(({ refresh_token }) => refresh_token));
    access = connected[0]?.access_token ?? '';
    await change(added);
    await lose(...copies);
  });

  /** What the backups do not know. */
  async function change(added: { readonly secretId: string; readonly secret: string }): Promise<void> {
    for (const token of spent) await flows.spend(token, 3);
    expect((await flows.exchange(code)).status).toBe(200);
    const cookies = new Map(agents.signedOut.cookies);
    await flows.signOut(agents.signedOut);
    agents.signedOut = openUserAgent(system.issuer, { cookies });
    onPage(`partnerctl consent withdraw --user ${ben.email} --client ${partner.clientId} --yes`);
    onPage(`partnerctl user disable ${carla.email} --yes`);
    const { secrets } = answerOf(`client secret list ${other.clientId}`);
    const old = secrets.find(({ secretId }: typeof added) => secretId !== added.secretId).secretId;
    onPage(`partnerctl client secret retire ${other.clientId} ${old} --even-if-in-use --yes`);
    secret = { added: added.secret, retired: old };
    key = keyThat('active');
    onPage('partnerctl key stage --algorithm ES256');
    onPage(`partnerctl key activate ${keyThat('staged')} --emergency --yes`);
    onPage(`partnerctl key retire ${key} --emergency --yes`);
  }

  async function lose(base: Copy, data: Copy): Promise<void> {
    const begun = performance.now();
    await Promise.all([destroy(postgres.container), destroy(redis)]);
    const logs = Object.values(system.containers).map(
      (container) => spawnSync(docker, ['logs', container.getId()], { maxBuffer: 1 << 28 }).stdout,
    );
    writeFileSync(join(work, 'identity.log'), Buffer.concat(logs));
    [postgres, redis] = await Promise.all([
      startPostgres(stores.network, { restore: { copy: base, commands: restore } }),
      startRedis(stores.network, { restore: data }),
    ]);
    const promoted = () => inContainer(postgres.container, recovering);
    await vi.waitFor(async () => expect(await promoted()).toBe('f\n'), waiting);
    await untilAnswered();
    console.log(`figure: both stores lost and restored: ${Math.round(performance.now() - begun)} ms`);
  }

  test('what was spent, withdrawn and retired since is good again, and what was archived is there', async () => {
    // One of them: the others are to be as good until the fence.
    spent.push(await flows.spend(spent[0] ?? ''));
    expect(await flows.refresh('none', other)).toMatchObject(refused);
    expect(keyThat('active')).toBe(key);
    for (const open of [flows.events, flows.userInfo])
      await expect.poll(() => open(access), waiting).toBe(200);
  });

  test('the fence ends it again: spent tokens, the used code, sessions, the withdrawn consent, the disabled user [R10.1, R11.2, R13.2, R13.3]', async () => {
    const begun = performance.now();
    expect(onPage(fence)).toContain(`Changed user:${carla.sub} (user.disable)`);
    console.log(`figure: the fence, tried and put up: ${Math.round(performance.now() - begun)} ms`);
    for (const token of spent) expect(await flows.refresh(token)).toMatchObject(refused);
    expect(await flows.exchange(code)).toMatchObject(refused);
    for (const agent of Object.values(agents)) expect(await flows.asksToLogIn(agent)).toBe(true);
    expect(await flows.logIn(agents.signedOut, ben)).toBe('consent');
    expect(await flows.logIn(browser(), carla)).toBe('login');
  });

  test('the retired secret and key are retired again, no key from before signs, and new flows work', async () => {
    expect(await flows.refresh('none', other)).toMatchObject({ status: 401 });
    expect(await flows.refresh('none', { ...other, clientSecret: secret.added })).toMatchObject(refused);
    // Identity follows within seconds; design-catalog, when it sees a token of the new key.
    await expect.poll(() => flows.userInfo(access), waiting).toBe(401);
    await walkThrough(system.issuer);
    await expect.poll(() => flows.events(access), waiting).toBe(401);
    expect(keys().find(({ kid }) => kid === key)?.state).toBe('retired');
  });

  test('the audit log is whole and has what the fence did', () => {
    const { entries } = answerOf('audit list --limit 100') as {
      entries: { change: { action: string; object: string } }[];
    };
    const done = entries.map(({ change: { action, object } }) => `${action} ${object}`);
    expect(done.slice(done.indexOf('restore.fence installation'))).toEqual(
      expect.arrayContaining([
        'restore.fence installation',
        `secret.retire secret:${secret.retired}`,
        `user.disable user:${carla.sub}`,
        `key.retire key:${key}`,
      ]),
    );
  });
});

const keptRows = `select 'consent ' || c::text as row from identity.consents c
  union all select 'client ' || c::text from identity.clients c
  union all select 'secret ' || secret_id || coalesce(retired_at::text, '') from identity.client_secrets
  union all select 'key ' || kid || state from identity.signing_keys`;
const kept = async () => (await postgres.query(keptRows)).map(({ row }) => row).toSorted();

async function restartRedis(copy?: Copy): Promise<void> {
  await destroy(redis);
  redis = await startRedis(stores.network, copy ? { restore: copy } : { onDisk: true });
  await untilAnswered();
}

test('Redis lost: all log in again, and nothing else is lost', async () => {
  const agent = browser();
  const { refresh_token } = await flows.connect(agent, anna);
  const before = await kept();
  await restartRedis();
  expect(await flows.refresh(refresh_token)).toMatchObject(refused);
  expect(await flows.asksToLogIn(agent)).toBe(true);
  // Nobody asks for the consent again.
  expect(await flows.logIn(agent, anna)).toBe('code');
  expect(await kept()).toEqual(before);
});

test('Redis restored: the fence ends what was spent, used or signed out since, and changes nothing else [R10.1, R11.2, R13.5]', async () => {
  const agent = browser();
  const tokens = [await flows.connect(agent, anna), await flows.connect(agent, anna)];
  const code = await flows.code(agent, anna);
  const copy = await copyFolder(redis, '/data');
  for (const { refresh_token } of tokens) await flows.spend(refresh_token);
  expect((await flows.exchange(code)).status).toBe(200);
  const before = {
    agent: openUserAgent(system.issuer, { cookies: new Map(agent.cookies) }),
    rows: await kept(),
  };
  await flows.signOut(agent);
  await restartRedis(copy);
  expect(await flows.refresh(tokens[1]?.refresh_token ?? '')).toMatchObject({ status: 200 });
  onPage(blocksOf('Redis comes from a backup').join('\n'));
  for (const { refresh_token } of tokens) expect(await flows.refresh(refresh_token)).toMatchObject(refused);
  expect(await flows.exchange(code)).toMatchObject(refused);
  expect(await flows.asksToLogIn(before.agent)).toBe(true);
  expect(await flows.logIn(before.agent, anna)).toBe('code');
  expect(await kept()).toEqual(before.rows);
});
