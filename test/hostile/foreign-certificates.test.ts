// A component that somebody has taken over: its certificate opens what it needs, and nothing else.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AuthorizationService } from '@course-exchange/proto/identity/v1/authorization';
import { DiscoveryService } from '@course-exchange/proto/identity/v1/discovery';
import { TokenService } from '@course-exchange/proto/identity/v1/token';
import { serviceErrorStatuses } from '@course-exchange/rules/error-codes';
import { connectRpc } from '@course-exchange/runtime/grpc/client';
import { bindService, type Handlers, serveRpc } from '@course-exchange/runtime/grpc/server';
import { openRpcTls, type RpcTls } from '@course-exchange/runtime/grpc/tls';
import { createLogger } from '@course-exchange/runtime/process/logger';
import { expect, onTestFinished, test } from 'vitest';
import { expectGatewayOrKeySet } from '../../services/identity/src/discovery/rpc.ts';
import { createAuthority, mount } from '../rpc/certificate-authority.ts';

const services = [AuthorizationService, TokenService, DiscoveryService] as const;
const authority = await createAuthority();
const logger = createLogger('test', 'error', () => {});

async function tlsOf(...names: string[]): Promise<RpcTls> {
  const directory = mkdtempSync(join(tmpdir(), 'rpc-tls-'));
  mount(directory, { ...(await authority.issue(names)), authority: authority.certificate });
  const tls = openRpcTls(directory, logger);
  if (!tls) throw new Error('no folder');
  onTestFinished(() => {
    tls.close();
    rmSync(directory, { recursive: true });
  });
  return tls;
}

/** Serves each of identity's methods with an empty answer. */
async function serveIdentity(): Promise<number> {
  const server = await serveRpc({
    services: services.map((service) => {
      const handlers = service.methods.map(({ localName }) => [localName, async () => ({})]);
      return bindService(service, Object.fromEntries(handlers) as Handlers<typeof service>);
    }),
    errorStatuses: serviceErrorStatuses,
    authenticate: expectGatewayOrKeySet,
    logger,
    address: '127.0.0.1:0',
    credentials: (await tlsOf('localhost')).server,
  });
  onTestFinished(() => server.stop(100));
  return server.port;
}

/** The methods of identity that answer the bearer of a certificate of this name. */
async function methodsOpenTo(port: number, name: string): Promise<string[]> {
  const rpc = connectRpc(services, {
    target: `dns:///localhost:${port}`,
    reads: [],
    timeoutMs: 5_000,
    credentials: (await tlsOf(name)).channel,
  });
  onTestFinished(rpc.close);
  const open: string[] = [];
  for (const service of services) {
    const client = rpc.client(service) as unknown as Record<string, (request: object) => Promise<unknown>>;
    for (const { localName } of service.methods) {
      const outcome = await client[localName]?.({}).then(
        () => 'open',
        (error) => error.code,
      );
      if (outcome === 'open') open.push(localName);
      else expect([localName, outcome]).toEqual([localName, 'permission_denied']);
    }
  }
  return open;
}

test('of identity, design-catalog may read the key set, the gateway everything, and no other component anything', async () => {
  const port = await serveIdentity();
  expect(await methodsOpenTo(port, 'course-exchange-design-catalog.courses.svc')).toEqual(['getKeySet']);
  const all = services.flatMap(({ methods }) => methods.map(({ localName }) => localName));
  expect(await methodsOpenTo(port, 'course-exchange-gateway.courses.svc')).toEqual(all);
  for (const name of ['course-exchange-identity.courses.svc', 'gateway-x.courses.svc', 'catalog.courses.svc'])
    expect(await methodsOpenTo(port, name)).toEqual([]);
});
