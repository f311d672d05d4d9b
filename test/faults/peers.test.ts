// Services over mutual TLS, as real processes: by its certificate design-catalog reads the key set and nothing else. Other
// names: test/rpc/peers.test.ts.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CatalogService } from '@course-exchange/proto/catalog/v1';
import { DiscoveryService } from '@course-exchange/proto/identity/v1/discovery';
import { connectRpc } from '@course-exchange/runtime/grpc/client';
import { openRpcTls } from '@course-exchange/runtime/grpc/tls';
import { createLogger } from '@course-exchange/runtime/process/logger';
import { expect, onTestFinished, test } from 'vitest';
import { createAuthority, mount } from '../rpc/certificate-authority.ts';
import { startSystem } from '../support/system.ts';

test('each port answers the component that its certificate names, and no other', async () => {
  const authority = await createAuthority();
  const folderOf = async (...names: string[]) => {
    const directory = mkdtempSync(join(tmpdir(), 'peers-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    mount(directory, { ...(await authority.issue(names)), authority: authority.certificate });
    return directory;
  };
  // Each process is the gateway to the others.
  const RPC_TLS_DIRECTORY = await folderOf('localhost', 'gateway');
  const system = await startSystem(({ ports }) => ({
    RPC_TLS_DIRECTORY,
    GATEWAY_TLS_NAMES: 'gateway',
    CATALOG_TLS_NAMES: 'x-design-catalog.courses.svc',
    IDENTITY_TARGET: `dns:///localhost:${ports.identity}`,
    CATALOG_TARGET: `dns:///localhost:${ports['design-catalog']}`,
  }));
  onTestFinished(system.stop);
  const connect = async (service: 'identity' | 'design-catalog', name: string) => {
    const tls = openRpcTls(await folderOf(name), createLogger('test', 'error'));
    onTestFinished(() => tls?.close());
    const target = `dns:///localhost:${system.stack.addresses?.[service]?.split(':')[1]}`;
    const options = { target, timeoutMs: 30_000, credentials: tls?.channel };
    const connection = connectRpc([CatalogService, DiscoveryService], options);
    onTestFinished(connection.close);
    return connection;
  };
  const refused = { code: 'permission_denied' };
  const discovery = (await connect('identity', 'x-design-catalog.courses.svc')).client(DiscoveryService);
  expect((await discovery.getKeySet({})).jwks).toContain('"keys"');
  await expect(discovery.getDiscovery({})).rejects.toMatchObject(refused);
  for (const name of ['x-design-catalog.courses.svc', 'x-gateway.courses.svc', 'gateway.courses.svc']) {
    const catalog = (await connect('design-catalog', name)).client(CatalogService);
    await expect(catalog.listDesigns({})).rejects.toMatchObject(refused);
  }
  for (const name of ['y-design-catalog.courses.svc', 'x-gateway.courses.svc']) {
    const other = (await connect('identity', name)).client(DiscoveryService);
    await expect(other.getKeySet({})).rejects.toMatchObject(refused);
  }
});
