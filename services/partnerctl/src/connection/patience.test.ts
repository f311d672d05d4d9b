import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { AuditService } from '@course-exchange/proto/operator/v1/audit';
import { ClientService } from '@course-exchange/proto/operator/v1/client';
import { afterEach, expect, test } from 'vitest';
import { runWords } from '../../testing/tool-run.ts';
import { openConnections } from './connections.ts';
import { patience } from './patience.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function addressOf(server: Server): Promise<string> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Accepts and says nothing. */
const mute = () => createServer((socket) => void socket.on('error', () => {}).resume());

function connectionsTo(identity: string, timeoutMs: number) {
  const sources = { flags: { identity }, environment: {}, stackFile: undefined, directory: '/' };
  const { signal } = new AbortController();
  return openConnections({ sources, timeoutMs, signal, actor: 'ann', newRequestId: () => 'id' });
}

test('a service that says nothing is given up after the time limit, or after the own one of the call', async () => {
  const identity = await addressOf(mute());
  const usual = connectionsTo(identity, 50);
  await expect(usual.identity(ClientService).listClients({})).rejects.toThrow('no answer in time');
  usual.close();
  const own = connectionsTo(identity, 60_000);
  await expect(own.identity(AuditService).verifyAudit({}, { timeoutMs: 50 })).rejects.toThrow(
    /deadline|time/,
  );
  own.close();
});

test.each([
  ['600000m', '600000m'],
  [undefined, '15000m'],
])('a limit of the call of %s is told to the service as %s', async (own, told) => {
  const header = new Headers(own === undefined ? {} : { 'grpc-timeout': own });
  const { signal } = new AbortController();
  const request = { stream: false, header, signal } as unknown as Parameters<
    ReturnType<ReturnType<typeof patience>>
  >[0];
  const answer = {} as Awaited<ReturnType<ReturnType<ReturnType<typeof patience>>>>;
  await patience({ signal, timeoutMs: 15_000 })(async () => answer)(request);
  expect(header.get('grpc-timeout')).toBe(told);
});

test('Ctrl-C ends a call that nobody answers at once', async () => {
  const server = mute();
  const identity = await addressOf(server);
  const interruption = new AbortController();
  server.once('connection', () => interruption.abort());
  const { signal } = interruption;
  const { exit, err } = await runWords(['client', 'list', '--identity', identity], { signal });
  expect({ exit, err }).toEqual({ exit: 130, err: 'Interrupted.\n' });
});

test.each([
  ['HTTP/1', () => createHttpServer((_, response) => void response.end('no')) as Server],
  [
    'Redis',
    () =>
      createServer((socket) => {
        socket.on('error', () => {}).once('data', () => socket.write('-ERR unknown command\r\n'));
      }),
  ],
])('at a port of %s there is one sentence and nothing thrown later', async (_, make) => {
  const identity = await addressOf(make());
  const { exit, err } = await runWords(['client', 'list', '--json', '--identity', identity]);
  expect(exit).toBe(3);
  expect(JSON.parse(err)).toMatchObject({ error: { message: expect.stringContaining(identity) } });
});
