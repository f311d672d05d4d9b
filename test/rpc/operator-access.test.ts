// Who reaches the operator port at all: loopback and Unix sockets by account, the network by certificate alone.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, type Transport } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { ClientService } from '@course-exchange/proto/operator/v1/client';
import { operatorErrorStatuses } from '@course-exchange/rules/error-codes';
import { type PrivatePort, privateListener } from '@course-exchange/runtime/grpc/private-port';
import { bindService, type RpcServer, serveRpc } from '@course-exchange/runtime/grpc/server';
import { createLogger } from '@course-exchange/runtime/process/logger';
import { Secret } from '@course-exchange/runtime/process/secret';
import { ConfigurationError } from '@course-exchange/runtime/process/settings';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { createClientHandlers } from '../../services/identity/src/clients/rpc.ts';
import type { OperatorContext } from '../../services/identity/src/operator-port.ts';
import { refusalOf } from '../support/grpc-client.ts';
import { createAuthority, type Issued } from './certificate-authority.ts';

const authority = await createAuthority();
const server = await authority.issue();
const operator = await authority.issue(undefined, 'anna');
const stranger = await (await createAuthority('anna')).issue(undefined, 'anna');

const silent = createLogger('test', 'error', () => {});
const loopback: PrivatePort = {
  prefix: 'OPERATOR',
  HOST: '127.0.0.1',
  PORT: 0,
  SOCKET: undefined,
  TLS_CERT: undefined,
  TLS_KEY: undefined,
  TLS_CA: undefined,
};
const mutual: PrivatePort = {
  ...loopback,
  HOST: '0.0.0.0',
  TLS_CERT: server.certificate,
  TLS_KEY: new Secret(server.key),
  TLS_CA: authority.certificate,
};

const running: RpcServer[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const one of running.splice(0)) await one.stop(100);
});

/** Serves DescribeInstallation, which needs no store. */
async function serve(port: PrivatePort): Promise<number> {
  const context = { issuer: 'https://id.example', environment: 'test' } as OperatorContext;
  const served = await serveRpc({
    ...privateListener(port, silent),
    services: [bindService(ClientService, createClientHandlers(context))],
    errorStatuses: operatorErrorStatuses,
    sendDetails: true,
    logger: silent,
  });
  running.push(served);
  return served.port;
}

async function actorBy(transport: Transport, name?: string): Promise<string> {
  const headers = name ? { 'x-operator': name } : {};
  return (await createClient(ClientService, transport).describeInstallation({}, { headers })).actor;
}

function withCertificate(port: number, shown?: Issued): Transport {
  return createGrpcTransport({
    baseUrl: `https://localhost:${port}`,
    nodeOptions: { ca: authority.certificate, ...(shown ? { cert: shown.certificate, key: shown.key } : {}) },
  });
}

/** A folder that is gone after the test. */
function folder(): string {
  const home = mkdtempSync(join(tmpdir(), 'operator-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  return home;
}

test('the actor is the name in the certificate, without which it is refused', async () => {
  const port = await serve(mutual);
  expect(await actorBy(withCertificate(port, operator), 'somebody-else')).toBe('cert:anna');
  const nameless = withCertificate(port, await authority.issue(undefined, 'O=x'));
  for (const said of ['anna', undefined])
    expect(await refusalOf(actorBy(nameless, said))).toMatchObject({
      errorCode: 'permission_denied',
      sentences: ['The call does not say who the operator is.'],
    });
});

test('a certificate of another authority, or none, reaches nothing', async () => {
  const port = await serve(mutual);
  const plaintext = createGrpcTransport({ baseUrl: `http://localhost:${port}` });
  for (const transport of [withCertificate(port, stranger), withCertificate(port), plaintext])
    await expect(actorBy(transport, 'anna')).rejects.toThrow();
});

test('new certificates in the files are followed while it serves, unusable ones are not', async () => {
  const home = folder();
  const put = (parts: Readonly<Record<string, string>>) => {
    for (const [part, text] of Object.entries(parts)) {
      writeFileSync(join(home, part), text);
      vi.stubEnv(`OPERATOR_TLS_${part}_FILE`, join(home, part));
    }
  };
  put({ CERT: server.certificate, KEY: server.key, CA: authority.certificate });
  const port = await serve(mutual);
  put({ KEY: operator.key });
  // Longer than the pause between two readings.
  await sleep(1_500);
  expect(await actorBy(withCertificate(port, operator))).toBe('cert:anna');
  const next = await createAuthority('Next');
  const [nextServer, bert] = [await authority.issue(), await next.issue(undefined, 'bert')];
  put({ CERT: nextServer.certificate, KEY: nextServer.key, CA: next.certificate });
  const asBert = () => actorBy(withCertificate(port, bert)).catch(() => '');
  await expect.poll(asBert, { timeout: 30_000 }).toBe('cert:bert');
  await expect(actorBy(withCertificate(port, operator))).rejects.toThrow();
});

test('a Unix socket is for its own account alone, also where an earlier process left one', async () => {
  const socket = join(folder(), 'operator.sock');
  const nodeOptions = { createConnection: () => connect(socket) };
  const transport = createGrpcTransport({ baseUrl: 'http://localhost', nodeOptions });
  const mask = process.umask(0);
  onTestFinished(() => {
    process.umask(mask);
  });
  for (const name of ['anna', 'bert']) {
    const modes = new Set<number | undefined>();
    const modeNow = () => modes.add(statSync(socket, { throwIfNoEntry: false })?.mode);
    const watched = setInterval(modeNow);
    await serve({ ...loopback, SOCKET: socket });
    modeNow();
    clearInterval(watched);
    modes.delete(undefined);
    expect([...modes]).toEqual([0o140600]);
    expect(process.umask()).toBe(0);
    expect(await actorBy(transport, name)).toBe(`local:${name}`);
    await running.pop()?.stop(100);
  }
});

test('a Unix socket in a directory that others may change, in none, or over a file is a mistake', () => {
  const home = folder();
  const open = join(home, 'open');
  mkdirSync(open);
  writeFileSync(join(home, 'file'), 'kept');
  const listen = (SOCKET: string) => () => privateListener({ ...loopback, SOCKET }, silent);
  for (const mode of [0o777, 0o770, 0o702]) {
    chmodSync(open, mode);
    expect(listen(join(open, 's'))).toThrow('a directory that no other account may change');
  }
  chmodSync(open, 0o1777);
  expect(listen(join(open, 's'))).not.toThrow();
  expect(listen(join(home, 'none', 's'))).toThrow('a directory that no other account may change');
  expect(listen(join(home, 'file'))).toThrow('expected a path where nothing or a socket is');
  expect(statSync(join(home, 'file')).size).toBe(4);
});

test('a network address without certificates, or half a certificate, is a mistake of the configuration', () => {
  for (const HOST of ['0.0.0.0', '::', '10.0.0.7', 'identity'])
    expect(() => privateListener({ ...loopback, HOST }, silent)).toThrow(
      expect.objectContaining({
        mistakes: [
          'OPERATOR_HOST is not valid: expected a loopback address where OPERATOR_TLS_CERT is not set',
        ],
      }),
    );
  for (const HOST of ['127.0.0.1', '127.8.8.8', '::1', 'localhost'])
    expect(() => privateListener({ ...loopback, HOST }, silent)).not.toThrow();
  expect(() => privateListener({ ...loopback, TLS_CERT: 'x' }, silent)).toThrow(ConfigurationError);
  expect(() => privateListener(mutual, silent)).not.toThrow();
});
