// Which component a certificate stands for, and what identity then answers.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AuthorizationService } from '@course-exchange/proto/identity/v1/authorization';
import { DiscoveryService } from '@course-exchange/proto/identity/v1/discovery';
import { TokenService } from '@course-exchange/proto/identity/v1/token';
import { connectRpc } from '@course-exchange/runtime/grpc/client';
import { peerNames, peerOf } from '@course-exchange/runtime/grpc/peer';
import { bindService, type Handlers } from '@course-exchange/runtime/grpc/server';
import { openRpcTls } from '@course-exchange/runtime/grpc/tls';
import type { Failure } from '@course-exchange/runtime/process/errors';
import { createLogger } from '@course-exchange/runtime/process/logger';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { expectGatewayOrKeySet } from '../../services/identity/src/discovery/rpc.ts';
import { createAuthority, mount } from './certificate-authority.ts';
import { pod } from './pods.ts';

const authority = await createAuthority();
const lines: string[] = [];
const logger = createLogger('test', 'info', (line) => lines.push(line));

beforeEach(() => {
  lines.length = 0;
});

async function tlsOf(...names: readonly string[]) {
  const directory = mkdtempSync(join(tmpdir(), 'peers-'));
  mount(directory, { ...(await authority.issue(names)), authority: authority.certificate });
  const tls = openRpcTls(directory, logger);
  onTestFinished(() => {
    tls?.close();
    rmSync(directory, { recursive: true });
  });
  if (tls === undefined) throw new Error('no folder');
  return tls;
}

/** Which methods of identity are open to a certificate with these names. */
async function openIdentity(names?: Readonly<Record<'gateway' | 'catalog', readonly string[]>>) {
  const services = [AuthorizationService, TokenService, DiscoveryService] as const;
  const empty = services.map((service) => {
    const handlers = service.methods.map(({ localName }) => [localName, async () => ({})]);
    return bindService(service, Object.fromEntries(handlers) as Handlers<typeof service>);
  });
  const { port } = await pod(
    {},
    {
      logger,
      credentials: (await tlsOf('localhost')).server,
      services: empty,
      authenticate: expectGatewayOrKeySet(
        peerOf('gateway', 'GATEWAY_TLS_NAMES', names?.gateway, logger),
        peerOf('design-catalog', 'CATALOG_TLS_NAMES', names?.catalog, logger),
      ),
    },
  );
  const all = services.flatMap(({ methods }) => methods.map(({ localName }) => localName));
  const codeOf = ({ code }: Failure) => code;
  const methodsOpenTo = async (...names: string[]) => {
    const target = { target: `dns:///localhost:${port}`, credentials: (await tlsOf(...names)).channel };
    const connection = connectRpc(services, { ...target, timeoutMs: 20_000 });
    onTestFinished(connection.close);
    const outcomes = services.flatMap((service) => {
      const methods = connection.client(service) as unknown as Record<
        string,
        (request: object) => Promise<unknown>
      >;
      return service.methods.map(({ localName }) => methods[localName]?.({}).then(Boolean, codeOf));
    });
    const codes = await Promise.all(outcomes);
    for (const code of codes) expect([true, 'permission_denied']).toContain(code);
    return all.filter((_, nth) => codes[nth] === true);
  };
  return { all, methodsOpenTo };
}

test('identity answers the gateway everything, design-catalog the key set, and no other name', async () => {
  const { all, methodsOpenTo } = await openIdentity({
    gateway: ['x-gateway.courses.svc.cluster.local', 'X-gateway.courses.svc'],
    catalog: ['x-design-catalog.courses.svc'],
  });
  expect(lines).toEqual([]);
  const others = ['x-gateway', 'x-gateway.courses'];
  // As prepare.sh makes it, and as the chart asks cert-manager for it.
  for (const name of ['x-gateway.courses.svc.cluster.local', 'x-gateway.COURSES.svc'])
    for (const names of [[name], [...others, name]]) expect(await methodsOpenTo(...names)).toEqual(all);
  expect(await methodsOpenTo('x-design-catalog.courses.svc')).toEqual(['getKeySet']);
  for (const names of [
    ['evil-gateway.attacker.svc', 'x-gateway.attacker.svc', 'x-gateway.courses.svc.other.local'],
    ['api-gateway.example.com', 'x-gateway.courses.svc.example.com', 'y-gateway.courses.svc'],
    [...others, 'gateway', '*.courses.svc', '*.courses.svc.cluster.local', 'x-gateway.courses.svc.'],
    ['a.x-gateway.courses.svc', 'x-identity.courses.svc', 'a, DNS:x-gateway.courses.svc, DNS:b'],
  ])
    expect(await methodsOpenTo(...names)).toEqual([]);
});

test('without the names, the first label tells components apart, with a warning', async () => {
  const { all, methodsOpenTo } = await openIdentity();
  const warnings = lines.map((line) => JSON.parse(line));
  expect(warnings).toMatchObject(
    ['GATEWAY_TLS_NAMES', 'CATALOG_TLS_NAMES'].map((setting) => ({ level: 'warn', setting })),
  );
  // The names in docs/install.md, and those that the chart asks cert-manager for.
  expect(await methodsOpenTo('course-exchange-gateway.courses.svc.cluster.local')).toEqual(all);
  const gateway = 'x-course-exchange-gateway';
  expect(await methodsOpenTo(gateway, `${gateway}.courses.svc`)).toEqual(all);
  expect(await methodsOpenTo('course-exchange-design-catalog.courses.svc')).toEqual(['getKeySet']);
  for (const names of [
    ['course-exchange-identity.courses.svc'],
    ['course-exchange-identity', 'course-exchange-identity.gateway.svc', '*.courses.svc'],
    ['notgateway', 'gateway-x.courses.svc', 'catalog.courses.svc', 'x, DNS:gateway, DNS:y'],
  ])
    expect(await methodsOpenTo(...names)).toEqual([]);
});

test('a name that no certificate can be compared with is no setting', () => {
  const isValid = (text: string) => peerNames('gateway').safeParse(text).success;
  for (const text of ['x-gateway.courses.svc, x-gateway.courses.svc.cluster.local', 'X', 'a.b-1.c'])
    expect(isValid(text), text).toBe(true);
  for (const text of [
    '*.courses.svc',
    'a..b',
    'a.',
    '-a',
    'a-',
    'a,',
    'https://a',
    'a b',
    `${'a'.repeat(64)}.b`,
  ])
    expect(isValid(text), text).toBe(false);
});
