// Certificates and authority between real processes, replaced under partners' traffic: no request fails, and what was
// signed by the old authority opens nothing afterwards.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Authority, createAuthority, type Issued, mount } from '../rpc/certificate-authority.ts';
import { authorizeUrl, type Discovery, discover, token, tokensOf, walk } from '../support/flow.ts';
import { send } from '../support/http.ts';
import { partnerFor, userWho } from '../support/stack-file.ts';
import { type System, startSystem } from '../support/system.ts';
import { openUserAgent } from '../support/user-agent.ts';

const directory = mkdtempSync(join(tmpdir(), 'certificates-'));
let system: System;
let discovery: Discovery;
let before: Authority;
let oldPair: Issued;

beforeAll(async () => {
  before = await createAuthority('Authority before');
  oldPair = await before.issue(['localhost']);
  mount(directory, { ...oldPair, authority: before.certificate });
  system = await startSystem((ports) => ({
    RPC_TLS_DIRECTORY: directory,
    MAX_CONNECTION_AGE_MS: '1000',
    IDENTITY_TARGET: `dns:///localhost:${ports.identity}`,
    CATALOG_TARGET: `dns:///localhost:${ports['design-catalog']}`,
  }));
  discovery = await discover(system.stack.issuer);
}, 120_000);
afterAll(async () => {
  await system?.stop();
  rmSync(directory, { recursive: true });
});

const partner = () => partnerFor(system.stack, 'openid', 'email', 'profile');

async function newTokens() {
  const agent = openUserAgent(system.stack.issuer);
  const start = await agent.visit(authorizeUrl(discovery.authorization_endpoint, partner()));
  const code = (await walk(agent, start, userWho(system.stack, 'typical season'))).parameters.get('code');
  const form = {
    grant_type: 'authorization_code',
    code: code ?? '',
    redirect_uri: partner().redirectUris[0],
  };
  return tokensOf(await token(discovery.token_endpoint, partner(), form));
}

/** The certificate that a new connection is shown by `service`; rejects when the caller's is refused. */
function shownBy(service: 'identity' | 'design-catalog', { certificate, key }: Issued): Promise<string> {
  const port = Number(system.stack.addresses?.[service]?.split(':')[1]);
  return new Promise((resolve, reject) => {
    const socket = connect({
      ...{ port, host: '127.0.0.1', servername: 'localhost', ALPNProtocols: ['h2'] },
      ...{ cert: certificate, key, rejectUnauthorized: false },
    });
    // The server's first frame: until it has come, the caller's certificate may still be refused.
    socket.once('data', () => {
      resolve(socket.getPeerX509Certificate()?.issuer ?? '');
      socket.destroy();
    });
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('closed')));
    socket.setTimeout(5_000, () => socket.destroy(new Error('silent')));
  });
}

test('certificates and authority are replaced in three steps, and no request of a partner fails', async () => {
  const families = await Promise.all([newTokens(), newTokens()]);
  const statuses: number[] = [];
  let going = true;
  const lanes = families.map(async (tokens) => {
    let current = tokens;
    while (going) {
      const refreshed = await token(discovery.token_endpoint, partner(), {
        grant_type: 'refresh_token',
        refresh_token: current.refresh_token,
      });
      statuses.push(refreshed.status);
      if (refreshed.status !== 200) return;
      current = { ...current, ...tokensOf(refreshed) };
      const headers = { authorization: `Bearer ${current.access_token}` };
      statuses.push((await send(`${system.stack.issuer}/api/events`, { headers })).status);
      await sleep(10);
    }
  });
  const after = await createAuthority('Authority after');
  const both = before.certificate + after.certificate;
  const newPair = await after.issue(['localhost']);
  mount(directory, { ...oldPair, authority: both });
  await sleep(3_000);
  mount(directory, { ...newPair, authority: both });
  await sleep(3_000);
  mount(directory, { ...newPair, authority: after.certificate });
  await sleep(3_000);
  going = false;
  await Promise.all(lanes);
  expect([...new Set(statuses)]).toEqual([200]);
  expect(statuses.length).toBeGreaterThan(50);
  for (const service of ['identity', 'design-catalog'] as const) {
    expect(await shownBy(service, newPair)).toBe('CN=Authority after');
    await expect(shownBy(service, oldPair)).rejects.toThrow();
  }
});
