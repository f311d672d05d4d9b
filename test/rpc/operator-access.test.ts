// Who reaches the operator port at all: loopback and Unix sockets by account, the network by certificate alone.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type Transport } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { ClientService } from '@course-exchange/proto/operator/v1/client';
import { operatorErrorStatuses } from '@course-exchange/proto/operator-error-codes';
import { ConfigurationError } from '@course-exchange/runtime/env';
import { createLogger } from '@course-exchange/runtime/logger';
import { type PrivatePort, privateListener } from '@course-exchange/runtime/private-port';
import { type RpcServer, served, serveRpc } from '@course-exchange/runtime/rpc-server';
import { Secret } from '@course-exchange/runtime/secret';
import { afterEach, expect, test } from 'vitest';
import type { Desk } from '../../services/identity/src/operator/desk.ts';
import { createClientHandlers } from '../../services/identity/src/rpc/operator/client-handlers.ts';
import { authority, operator, server, stranger } from './operator-certificates.ts';

const loopback: PrivatePort = {
  prefix: 'OPERATOR',
  host: '127.0.0.1',
  port: 0,
  socket: undefined,
  certificate: undefined,
  key: undefined,
  authority: undefined,
};
const mutual: PrivatePort = {
  ...loopback,
  host: '0.0.0.0',
  certificate: server.certificate,
  key: new Secret(server.key),
  authority,
};

const running: RpcServer[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop(100);
});

/** Serves DescribeInstallation, which needs no store. */
async function serve(port: PrivatePort): Promise<number> {
  const desk = { issuer: 'https://id.example', environment: 'test' } as Desk;
  const served_ = await serveRpc({
    ...privateListener(port),
    services: [served(ClientService, createClientHandlers(desk))],
    errorStatuses: operatorErrorStatuses,
    sendDetails: true,
    logger: createLogger('test', 'error', () => {}),
  });
  running.push(served_);
  return served_.port;
}

const actorBy = async (transport: Transport, name?: string) =>
  (
    await createClient(ClientService, transport).describeInstallation(
      {},
      name ? { headers: { 'x-operator': name } } : {},
    )
  ).actor;

function withCertificate(port: number, shown?: { certificate: string; key: string }): Transport {
  return createGrpcTransport({
    baseUrl: `https://localhost:${port}`,
    nodeOptions: { ca: authority, ...(shown ? { cert: shown.certificate, key: shown.key } : {}) },
  });
}

test('by certificate, the name in it is the actor, whatever the caller says', async () => {
  const port = await serve(mutual);
  expect(await actorBy(withCertificate(port, operator), 'somebody-else')).toBe('cert:anna');
});

test('a certificate of another authority, or none, reaches nothing', async () => {
  const port = await serve(mutual);
  await expect(actorBy(withCertificate(port, stranger), 'anna')).rejects.toThrow();
  await expect(actorBy(withCertificate(port), 'anna')).rejects.toThrow();
  await expect(
    actorBy(createGrpcTransport({ baseUrl: `http://localhost:${port}` }), 'anna'),
  ).rejects.toThrow();
});

test('a Unix socket is served, also where an earlier process left one behind', async () => {
  const home = mkdtempSync(join(tmpdir(), 'operator-'));
  const socket = join(home, 'operator.sock');
  const transport = createGrpcTransport({
    baseUrl: 'http://localhost',
    nodeOptions: { createConnection: () => connect(socket) },
  });
  await serve({ ...loopback, socket });
  expect(await actorBy(transport, 'anna')).toBe('local:anna');
  await running.pop()?.stop(100);
  await serve({ ...loopback, socket });
  expect(await actorBy(transport, 'bert')).toBe('local:bert');
  rmSync(home, { recursive: true });
});

test('a Unix socket is for its own account alone, from its first moment', async () => {
  const home = mkdtempSync(join(tmpdir(), 'operator-'));
  const socket = join(home, 'operator.sock');
  const mask = process.umask(0);
  try {
    const modes: number[] = [];
    const watched = setInterval(() => {
      const found = statSync(socket, { throwIfNoEntry: false });
      if (found) modes.push(found.mode & 0o777);
    });
    await serve({ ...loopback, socket });
    modes.push(statSync(socket).mode & 0o777);
    clearInterval(watched);
    expect([...new Set(modes)]).toEqual([0o600]);
    expect(process.umask()).toBe(0);
  } finally {
    process.umask(mask);
    rmSync(home, { recursive: true });
  }
});

test('a Unix socket in a directory that others may change, in none, or over a file is a mistake', () => {
  const home = mkdtempSync(join(tmpdir(), 'operator-'));
  const open = join(home, 'open');
  mkdirSync(open);
  writeFileSync(join(home, 'file'), 'kept');
  const listen = (socket: string) => () => privateListener({ ...loopback, socket });
  for (const mode of [0o777, 0o770, 0o702]) {
    chmodSync(open, mode);
    expect(listen(join(open, 's'))).toThrow('a directory that no other account may change');
  }
  chmodSync(open, 0o1777);
  expect(listen(join(open, 's'))).not.toThrow();
  expect(listen(join(home, 'none', 's'))).toThrow('a directory that no other account may change');
  expect(listen(join(home, 'file'))).toThrow('expected a path where nothing or a socket is');
  expect(statSync(join(home, 'file')).size).toBe(4);
  rmSync(home, { recursive: true });
});

test('a network address without certificates, or half a certificate, is a mistake of the configuration', () => {
  const mistakes = (port: PrivatePort) => {
    try {
      privateListener(port);
      return [];
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      return error.mistakes;
    }
  };
  for (const host of ['0.0.0.0', '::', '10.0.0.7', 'identity'])
    expect(mistakes({ ...loopback, host })).toEqual([
      'OPERATOR_HOST is not valid: expected a loopback address where OPERATOR_TLS_CERT is not set',
    ]);
  for (const host of ['127.0.0.1', '127.8.8.8', '::1', 'localhost'])
    expect(mistakes({ ...loopback, host })).toEqual([]);
  expect(mistakes({ ...loopback, certificate: 'x' })).toHaveLength(1);
  expect(mistakes(mutual)).toEqual([]);
});
