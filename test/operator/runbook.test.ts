// docs/operate.md as written, on a real stack: an operator runs its blocks, a partner and a user do their part.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { read, shellBlocks } from '../docs/documents.ts';
import { authorizeUrl, type Discovery, discover, logIn, openCaller, tokensOf } from '../support/flow.ts';
import { type Answer, send } from '../support/http.ts';
import { type Outcome, startProcess } from '../support/process.ts';
import { type Partner, runningStack, userWho } from '../support/stack-file.ts';
import { openUserAgent } from '../support/user-agent.ts';
import { answerOf, decrypted, tool, toolEnvironment, toolOnPath } from './tool.ts';

const work = mkdtempSync(join(tmpdir(), 'partnerctl-runbook-'));
const path = toolOnPath();
const variables: Record<string, string> = { WORK: work };
const printed: string[] = [];

/** The shell blocks of the page: first how the tool is called in a clone, then those of each section. */
const [introduction = '', ...sections] = read('docs/operate.md').split(/^## /m);
const [callingBlock = ''] = shellBlocks(introduction);
const remaining = new Map(sections.map((text) => [text.slice(0, text.indexOf('\n')), shellBlocks(text)]));

let discovery: Discovery;
let ageIdentity: string;
let acme: Partner;
let refreshToken: string;

/** Runs the next block of a section with a shell that ends at the first command that fails. */
async function next(title: string, exit = 0): Promise<Outcome> {
  const block = remaining.get(title)?.shift();
  if (block === undefined) throw new Error(`"${title}" has no further block.`);
  const environment = toolEnvironment({ ...variables, PATH: `${path}:${process.env.PATH}` });
  const outcome = await startProcess('bash', ['-euo', 'pipefail', '-c', block], environment).ended;
  printed.push(block, outcome.out, outcome.err);
  expect(outcome, `${title}:\n${block}${outcome.err}`).toMatchObject({ exit });
  return outcome;
}

async function secretIn(file: string): Promise<string> {
  return (await decrypted(ageIdentity, readFileSync(join(work, file), 'utf8'))).trim();
}

/** The partner as it is registered by now, and a person with events. */
const callerOf = (partner: Partner) => openCaller({ ...runningStack(), partners: [partner] });

async function connect(partner: Partner): Promise<string> {
  const tokens = await (await callerOf(partner)).newTokens();
  refreshToken = tokens.refresh_token;
  return tokens.access_token;
}

async function refresh(partner: Partner): Promise<Answer> {
  const answer = await (await callerOf(partner)).refresh(refreshToken);
  if (answer.status === 200) refreshToken = tokensOf(answer).refresh_token;
  return answer;
}

/** Names of the events that the partner is shown. */
async function eventsOf(partner: Partner): Promise<readonly Record<string, unknown>[]> {
  const { events } = await callerOf(partner);
  return (await events(await connect(partner))).json().items as Record<string, unknown>[];
}

async function listSecrets() {
  const { secrets } = await answerOf('client', 'secret', 'list', 'acme');
  return secrets as { readonly secretId: string; readonly lastUsedAt: string | null }[];
}

/** What a day does, by the superuser's hand: last uses lie a day further back. */
async function aDayPasses(): Promise<void> {
  const client = new pg.Client(runningStack().postgres);
  await client.connect();
  await client.query(
    `update identity.client_secrets set last_used_at = last_used_at - interval '25 hours', created_at = created_at - interval '25 hours' where client_id = 'acme'`,
  );
  await client.end();
}

beforeAll(async () => {
  discovery = await discover(runningStack().issuer);
  ageIdentity = await generateIdentity();
  variables.AGE_KEY = await identityToRecipient(ageIdentity);
  const user = userWho(runningStack(), 'typical season');
  Object.assign(variables, { PERSON: user.email, OWNER: user.sub });
});

afterAll(() => {
  for (const directory of [work, path]) rmSync(directory, { recursive: true, force: true });
});

test('the tool runs from a clone as the runbook says', async () => {
  const script = `${callingBlock}partnerctl status`;
  // npm reads its registry and cache from the environment of its caller.
  const environment = { ...(process.env as Record<string, string>), ...toolEnvironment() };
  const { exit, out, err } = await startProcess('bash', ['-euo', 'pipefail', '-c', script], environment)
    .ended;
  expect({ exit, err: exit === 0 ? '' : err }).toEqual({ exit: 0, err: '' });
  expect(out).toContain(`Issuer       ${runningStack().issuer}`);
});

describe('the runbook as written', () => {
  test('on-boards a partner from its registration to its first events', async () => {
    await next('On-board a partner');
    const redirectUris = ['http://127.0.0.1:3999/callback'] as const;
    const credentials = { clientId: 'acme', clientSecret: await secretIn('acme.age') };
    const scopes = ['openid', 'email', 'profile'];
    acme = { name: 'Acme', ...credentials, redirectUris, scopes, active: true };
    const early = await send(authorizeUrl(discovery.authorization_endpoint, acme));
    expect(early.status).toBe(400);
    await next('On-board a partner');
    expect(await eventsOf(acme)).toHaveLength(12);
    expect((await next('On-board a partner')).out).toContain('openid email profile');
  });

  test('changes a redirect URI: both are accepted until the old one is removed', async () => {
    const changed: Partner = { ...acme, redirectUris: ['http://127.0.0.1:3999/connected'] };
    await next('Change redirect URIs');
    for (const partner of [acme, changed]) await connect(partner);
    await next('Change redirect URIs');
    expect((await send(authorizeUrl(discovery.authorization_endpoint, acme))).status).toBe(400);
    acme = changed;
  });

  test('rotates the secret without a failed call', async () => {
    const old = (await listSecrets())[0]?.secretId ?? '';
    variables.OLD_SECRET = old;
    await next('Rotate a secret');
    expect((await refresh(acme)).status).toBe(200);
    acme = { ...acme, clientSecret: await secretIn('acme-2.age') };
    expect((await refresh(acme)).status).toBe(200);
    await waitForLastUse(old);
    await aDayPasses();
    await next('Rotate a secret');
    expect((await refresh(acme)).status).toBe(200);
  });

  test('withdraws a consent: the next refresh fails, and so it stays', async () => {
    expect((await next('Withdraw consent')).out).toContain('It takes effect at the next refresh.');
    expect(await refresh(acme)).toMatchObject({ status: 400, text: '{"error":"invalid_grant"}' });
    await connect(acme);
    await next('Withdraw consent');
    expect(await refresh(acme)).toMatchObject({ status: 400, text: '{"error":"invalid_grant"}' });
  });

  test('answers a compromised secret', async () => {
    await connect(acme);
    variables.OLD_SECRET = (await listSecrets())[0]?.secretId ?? '';
    expect((await next('Compromised secret')).out).toContain('secret.retire');
    expect((await refresh(acme)).status).toBe(401);
    acme = { ...acme, clientSecret: await secretIn('acme-3.age') };
    expect((await refresh(acme)).status).toBe(200);
    await next('Compromised secret');
    expect((await refresh(acme)).status).toBe(401);
    variables.VERSION = /Version +(\d+)/.exec((await tool('client', 'show', 'acme')).out)?.[1] ?? '';
    await next('Compromised secret');
    expect((await refresh(acme)).status).toBe(200);
  });

  test('answers a compromised signing key', async () => {
    await next('Compromised signing key');
    const { keys } = await answerOf('key', 'list');
    const rs256 = (keys as Record<string, string>[]).filter(({ algorithm }) => algorithm === 'RS256');
    variables.NEW_KEY = rs256.find(({ state }) => state === 'staged')?.kid ?? '';
    variables.OLD_KEY = rs256.find(({ state }) => state === 'active')?.kid ?? '';
    await next('Compromised signing key');
    await expect.poll(publishedKeys).not.toContain(variables.OLD_KEY);
    expect(await publishedKeys()).toContain(variables.NEW_KEY);
    await connect(acme);
  });

  test.each([
    ['rotates the signing keys', 'Rotate the signing keys', 'Nothing changed'],
    ['encrypts them under the present key', 'Rotate the signing keys', ''],
    ['keeps clients in version control', 'Clients in version control', ''],
  ])('%s', async (_what, title, said) => {
    expect((await next(title)).out).toContain(said);
  });

  test('answers a partner who asks why a refresh was refused, from the mail on', async () => {
    await connect(acme);
    const spent = refreshToken;
    expect((await refresh(acme)).status).toBe(200);
    const answer = await (await callerOf(acme)).refresh(spent);
    expect(answer.text).toBe('{"error":"invalid_grant"}');
    const id = String(answer.headers['x-request-id']);
    variables.REQUEST_ID = id;
    // Records are written behind the answer.
    await expect.poll(async () => (await tool('explain', id)).exit).toBe(0);
    const why = await next('A partner asks why');
    expect(why.out).toMatch(
      /\nFor the partner acme:\nThe refresh token was replaced (?:less than )?\d+\.\d s earlier,/,
    );
    expect(why.out).toContain('\nDuty       specification S5.lifetime\n');
    const list = await next('A partner asks why');
    expect(list.out).toMatch(new RegExp(`refresh_token_reused +${id}\n`));
    expect((await next('A partner asks why')).out).toContain('acme');
  });

  test('says how the client behaves: it has sent no PKCE challenge', async () => {
    const { out } = await next("How a partner's client behaves", 1);
    expect(out).toMatch(/A PKCE challenge .* S5\.flow +broken /);
    expect(out).toMatch(/ID token validated .* cannot be seen from here/);
  });

  test('imports users, who log in with the passwords that they had', async () => {
    expect((await next('Import users')).out).toContain('2 created');
    const agent = openUserAgent(runningStack().issuer);
    const page = await agent.visit(authorizeUrl(discovery.authorization_endpoint, acme, { prompt: 'login' }));
    if (page.kind !== 'page') throw new Error('No login page.');
    const after = await logIn(agent, page, { email: 'mara@example.com', password: 'runbook-mara-password' });
    expect(after).toMatchObject({ kind: 'page', url: expect.stringContaining('/consent') });
    const mara = async () => (await answerOf('user', 'show', 'mara@example.com')).user;
    // Rehashed after the login, which does not wait for it.
    await expect.poll(mara).toMatchObject({ passwordAlgorithm: 'argon2id' });
    await next('Import users');
  });

  test('imports designs, which the partner sees', async () => {
    await next('Import designs');
    const cup = expect.objectContaining({ name: 'Runbook Cup', designCount: 2 });
    expect(await eventsOf(acme)).toContainEqual(cup);
  });

  test('reads the audit log and finds it whole', async () => {
    const { sequence, hash } = (await answerOf('audit', 'verify')).head as Record<string, string>;
    variables.HEAD = `${sequence}:${hash}`;
    expect((await next('Audit')).out).toContain('client.register');
  });

  test('has no block left that was not run, and printed no secret', () => {
    expect([...remaining].filter(([, blocks]) => blocks.length > 0)).toEqual([]);
    for (const secret of [acme.clientSecret, refreshToken, 'runbook-mara-password'])
      expect(printed.join('\n').includes(secret)).toBe(false);
  });
});

/** The last use of a secret is written within a minute. */
async function waitForLastUse(secretId: string): Promise<void> {
  const lastUse = async () =>
    (await listSecrets()).find((secret) => secret.secretId === secretId)?.lastUsedAt;
  await expect.poll(lastUse, { timeout: 75_000, interval: 2_000 }).toEqual(expect.any(String));
}

async function publishedKeys(): Promise<string[]> {
  const { keys } = (await send(discovery.jwks_uri)).json() as { readonly keys: { readonly kid: string }[] };
  return keys.map(({ kid }) => kid);
}
