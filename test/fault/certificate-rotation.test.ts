// Certificates and authority between real processes: who may call what by them, and both replaced under partners' traffic:
// no request fails, and what was signed by the old authority opens nothing afterwards.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { CatalogService } from '@course-exchange/proto/catalog/v1';
import { AuthorizationService } from '@course-exchange/proto/identity/v1/authorization';
import { DiscoveryService } from '@course-exchange/proto/identity/v1/discovery';
import { TokenService } from '@course-exchange/proto/identity/v1/token';
import { connectRpc } from '@course-exchange/runtime/grpc/client';
import { openRpcTls } from '@course-exchange/runtime/grpc/tls';
import { createLogger } from '@course-exchange/runtime/process/logger';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Authority, createAuthority, type Issued, mount } from '../rpc/certificate-authority.ts';
import { openCaller } from '../support/caller.ts';
import { tokensOf } from '../support/flow.ts';
import { type System, startSystem } from '../support/system.ts';
import { liveFamilies } from './families.ts';

const directory = mkdtempSync(join(tmpdir(), 'certificates-'));
/** One folder serves all processes: each is the gateway to the others. */
const names = ['localhost', 'gateway'];
let system: System;
let before: Authority;
let oldPair: Issued;

beforeAll(async () => {
  before = await createAuthority('Authority before');
  oldPair = await before.issue(names);
  mount(directory, { ...oldPair, authority: before.certificate });
  system = await startSystem(({ ports }) => ({
    RPC_TLS_DIRECTORY: directory,
    MAX_CONNECTION_AGE_MS: '1000',
    IDENTITY_TARGET: `dns:///localhost:${ports.identity}`,
    CATALOG_TARGET: `dns:///localhost:${ports['design-catalog']}`,
  }));
}, 120_000);
afterAll(async () => {
  await system?.stop();
  rmSync(directory, { recursive: true });
});

const services = ['gateway', 'identity', 'design-catalog'] as const;

/** How often each service has read new certificates. */
function renewals(): readonly number[] {
  const logOf = (service: string) => readFileSync(join(system.logs, `${service}.log`), 'utf8');
  return services.map((service) => logOf(service).split('"certificates renewed"').length - 1);
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

test('by its certificate design-catalog reads the key set and nothing else', async () => {
  const own = mkdtempSync(join(tmpdir(), 'catalog-'));
  mount(own, { ...(await before.issue(['x-design-catalog.courses.svc'])), authority: before.certificate });
  const tls = openRpcTls(own, createLogger('test', 'error'));
  const callersOf = (service: 'identity' | 'design-catalog') => {
    const target = `dns:///localhost:${system.stack.addresses?.[service]?.split(':')[1]}`;
    const called = [AuthorizationService, CatalogService, DiscoveryService, TokenService];
    return connectRpc(called, { target, reads: [], timeoutMs: 5_000, credentials: tls?.channel });
  };
  const [identity, catalog] = [callersOf('identity'), callersOf('design-catalog')];
  const refused = { code: 'permission_denied' };
  const discovery = identity.client(DiscoveryService);
  expect((await discovery.getKeySet({})).jwks).toContain('"keys"');
  await expect(discovery.getDiscovery({})).rejects.toMatchObject(refused);
  await expect(identity.client(TokenService).getUserInfo({})).rejects.toMatchObject(refused);
  await expect(identity.client(AuthorizationService).getInteraction({})).rejects.toMatchObject(refused);
  await expect(catalog.client(CatalogService).listDesigns({})).rejects.toMatchObject(refused);
  for (const close of [identity.close, catalog.close, tls?.close]) close?.();
  rmSync(own, { recursive: true });
});

test('certificates and authority are replaced in three steps, and no request of a partner fails', async () => {
  const caller = await openCaller(system.stack);
  let [going, served] = [true, 0];
  const family = async () => {
    for (let tokens = await caller.newTokens(); going; await sleep(10)) {
      tokens = tokensOf(await caller.refresh(tokens.refresh_token));
      const { status, text } = await caller.events(tokens.access_token);
      if (status !== 200) throw new Error(`The list of events answered ${status} ${text}`);
      served += 2;
    }
  };
  const families = Promise.all([1, 2].map(() => liveFamilies(family, () => !going)));
  // Told of at the end.
  families.catch(() => {});
  await expect.poll(() => served).toBeGreaterThan(0);
  const after = await createAuthority('Authority after');
  const both = before.certificate + after.certificate;
  const newPair = await after.issue(names);
  for (const mounted of [
    { ...oldPair, authority: both },
    { ...newPair, authority: both },
    { ...newPair, authority: after.certificate },
  ]) {
    const known = renewals();
    mount(directory, mounted);
    // No process is led on before all have read this step's, and longer than a connection lives.
    await expect.poll(() => renewals().every((times, index) => times > (known[index] ?? 0))).toBe(true);
    await sleep(2_000);
  }
  going = false;
  await families;
  expect(served).toBeGreaterThan(50);
  for (const service of ['identity', 'design-catalog'] as const) {
    expect(await shownBy(service, newPair)).toBe('CN=Authority after');
    await expect(shownBy(service, oldPair)).rejects.toThrow();
  }
});
