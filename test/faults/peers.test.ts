// Services over mutual TLS, as real processes: by its certificate design-catalog reads the key set and nothing else. Other
// names and authorities: test/rpc/mutual-tls.test.ts.
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
    IDENTITY_TARGET: `dns:///localhost:${ports.identity}`,
    CATALOG_TARGET: `dns:///localhost:${ports['design-catalog']}`,
  }));
  onTestFinished(system.stop);
  const tls = openRpcTls(await folderOf('x-design-catalog.courses.svc'), createLogger('test', 'error'));
  onTestFinished(() => tls?.close());
  const connect = (service: 'identity' | 'design-catalog') => {
    const target = `dns:///localhost:${system.stack.addresses?.[service]?.split(':')[1]}`;
    const options = { target, reads: [], timeoutMs: 30_000, credentials: tls?.channel };
    const connection = connectRpc([CatalogService, DiscoveryService], options);
    onTestFinished(connection.close);
    return connection;
  };
  const refused = { code: 'permission_denied' };
  const discovery = connect('identity').client(DiscoveryService);
  expect((await discovery.getKeySet({})).jwks).toContain('"keys"');
  await expect(discovery.getDiscovery({})).rejects.toMatchObject(refused);
  const catalog = connect('design-catalog').client(CatalogService);
  await expect(catalog.listDesigns({})).rejects.toMatchObject(refused);
});
