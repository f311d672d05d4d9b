// Every scenario of a rehearsal, played before a real system: the demo partner keeps every duty, and a client with seven
// mistakes gets each of them reported and no other.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { demoPartner } from '@course-exchange/local-stack/demo-accounts';
import { choosePorts } from '@course-exchange/local-stack/free-ports';
import { visit } from '@course-exchange/testcontainers/browser';
import { breachText, type DutyName } from '@course-exchange/testcontainers/rehearsal/duties';
import type { RehearsalProxy } from '@course-exchange/testcontainers/rehearsal/proxy';
import { DutyBroken, rehearse } from '@course-exchange/testcontainers/rehearsal/rehearse';
import { type ScenarioName, scenarios } from '@course-exchange/testcontainers/rehearsal/scenarios';
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { root } from '../check/step.ts';
import { authorizeUrl, basic, pkce, type Tokens } from '../support/flow.ts';
import { type Fields, send } from '../support/http.ts';
import { partnerFor, userWho } from '../support/stack-file.ts';
import type { System } from '../support/system.ts';
import { openPartnerBrowser } from '../support/user-agent.ts';
import { type RehearsedSystem, startRehearsedSystem } from './rehearsed-system.ts';

const names = Object.keys(scenarios) as ScenarioName[];
let rehearsed: RehearsedSystem;
let proxy: RehearsalProxy;
let system: System;
let issuer: string;

beforeAll(async () => {
  rehearsed = await startRehearsedSystem();
  ({ proxy, system } = rehearsed);
  issuer = system.stack.issuer;
});
afterAll(() => rehearsed?.stop());

const user = () => userWho(system.stack, 'typical season');

test('the demo partner keeps every duty, and every scenario is played', async () => {
  const ports = await choosePorts(['http', 'health']);
  const folder = mkdtempSync(join(tmpdir(), 'rehearsed-partner-'));
  const url = `http://127.0.0.1:${ports.http}`;
  const { clientId, clientSecret } = demoPartner(url);
  const partner = spawn(process.execPath, [join(root, 'services/demo-partner/src/main.ts')], {
    stdio: 'ignore',
    env: {
      PUBLIC_URL: system.stack.demoPartner ?? url,
      ISSUER: issuer,
      CLIENT_ID: clientId,
      CLIENT_SECRET: clientSecret,
      TOKEN_ENCRYPTION_KEY: Buffer.alloc(32, 5).toString('base64'),
      DATABASE_FILE: join(folder, 'partner.sqlite'),
      HTTP_PORT: String(ports.http),
      HEALTH_PORT: String(ports.health),
    },
  });
  try {
    await vi.waitFor(
      async () => expect((await fetch(`http://127.0.0.1:${ports.health}/readyz`)).ok).toBe(true),
      { timeout: 30_000, interval: 100 },
    );
    for (const name of names)
      await rehearse(proxy, name, async () => {
        const browser = openPartnerBrowser(url);
        const { callback } = await browser.connect((request, jar) => visit(request, user(), jar));
        await browser.read();
        if (name === 'event-gone') return;
        await browser.press('/refresh');
        if (name === 'refresh-unavailable') await new Promise((after) => setTimeout(after, 1_100));
        await browser.press('/refresh');
        await browser.read();
        await browser.load(callback);
      });
  } finally {
    partner.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
});

/**
 * Connects, reads, and in a longer walk refreshes twice and reads again. The client sends a lost POST again, keeps a spent refresh
 * token, takes any state, does not compare the nonce, takes `none`, sends the ID token to the API, and refreshes twice at once.
 */
async function walkWithMistakes(refreshes: boolean): Promise<void> {
  const partner = partnerFor(system.stack, 'openid', 'email', 'profile');
  const [redirect_uri] = partner.redirectUris;
  let tokens: Tokens | undefined;

  const get = (path: string, token: string) =>
    send(`${issuer}${path}`, { headers: { authorization: `Bearer ${token}` } });

  /** Undefined if the tokens are refused. */
  async function post(form: Fields): Promise<Tokens | undefined> {
    // The proxy counts from when it has read the request, which may be a moment later.
    const ask = () => send(`${issuer}/token`, { form, headers: basic(partner), timeoutMs: 3_400 });
    const answer = await ask()
      .catch(ask)
      .catch(() => undefined);
    return answer?.status === 200 ? (answer.json() as Tokens) : undefined;
  }

  async function isGood(idToken: string): Promise<boolean> {
    if (decodeProtectedHeader(idToken).alg === 'none') return decodeJwt(idToken).iss === issuer;
    const keys = createRemoteJWKSet(new URL(`${issuer}/.well-known/jwks.json`));
    return jwtVerify(idToken, keys, { issuer, audience: partner.clientId, algorithms: ['RS256'] }).then(
      () => true,
      () => false,
    );
  }

  async function refresh(): Promise<void> {
    const refresh_token = tokens?.refresh_token;
    if (!refresh_token) return;
    const once = () => post({ grant_type: 'refresh_token', refresh_token });
    const [fresh] = (await Promise.all([once(), once()])).filter((one) => one !== undefined);
    tokens = fresh && { ...fresh, refresh_token };
  }

  async function read(): Promise<void> {
    const list = tokens && (await get('/api/events', tokens.access_token));
    if (list?.status === 401) await refresh();
    if (list?.status !== 200) return;
    const [event] = (list.json() as { items: { id: string }[] }).items;
    if (event && tokens) await get(`/api/events/${event.id}/designs`, tokens.access_token);
  }

  const { verifier: code_verifier, challenge: code_challenge } = pkce();
  const once = { state: randomUUID(), nonce: randomUUID() };
  const parameters = { scope: 'openid', ...once, code_challenge, code_challenge_method: 'S256' };
  const request = new URL(authorizeUrl(`${issuer}/authorize`, partner, parameters));
  const code = (await visit(request, user())).searchParams.get('code');
  if (code !== null) {
    const fresh = await post({ grant_type: 'authorization_code', code, redirect_uri, code_verifier });
    if (fresh?.id_token && (await isGood(fresh.id_token))) tokens = fresh;
    if (tokens?.id_token) await get('/userinfo', tokens.id_token);
  }
  await read();
  if (!refreshes) return;
  await refresh();
  await refresh();
  await read();
}

test('a client with seven mistakes is shown each of them, and no eighth', async () => {
  const told = new Map<DutyName, string>();
  for (const name of names) {
    const walk = () => walkWithMistakes(name !== 'event-gone');
    const error = await rehearse(proxy, name, walk).catch((broken: unknown) => broken);
    if (!(error instanceof DutyBroken)) expect(error, name).toBe(undefined);
    else for (const breach of error.breaches) told.set(breach.duty, `${name}: ${breachText(breach)}`);
  }
  const mistakes: readonly DutyName[] = [
    'check-state',
    'id-token-algorithm',
    'id-token-nonce',
    'id-token-opens-nothing',
    'never-again',
    'one-refresh-at-a-time',
    'replace-refresh-token',
  ];
  expect([...told.keys()].toSorted(), [...told.values()].join('\n')).toEqual(mistakes);
});
