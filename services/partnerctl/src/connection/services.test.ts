import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Code, ConnectError, type ConnectRouter } from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import { AuditService } from '@course-exchange/proto/operator/v1/audit';
import { ClientService } from '@course-exchange/proto/operator/v1/client';
import { operatorErrorStatuses } from '@course-exchange/rules/error-codes';
import { expect, onTestFinished, test, vi } from 'vitest';
import { run, runAgainst } from '../../testing/run.ts';
import { errorText, openServices, toCliError } from './services.ts';

async function addressOf(server: Server): Promise<string> {
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Accepts and says nothing. */
const mute = () => createServer((socket) => void socket.on('error', () => {}).resume());

function servicesAt(identity: string, timeoutMs: number) {
  const sources = { flags: { identity }, environment: {}, directory: '/' };
  const { signal } = new AbortController();
  return openServices({ ...sources, timeoutMs, signal, actor: 'ann', newRequestId: () => 'id' });
}

test('the service receives a call’s time limit; 0 is none', async () => {
  const limits: (string | null)[] = [];
  const routes = (router: ConnectRouter) =>
    router.service(ClientService, {
      listClients: (_, { requestHeader }) => {
        limits.push(requestHeader.get('grpc-timeout'));
        return {};
      },
    });
  const services = servicesAt(await addressOf(createHttp2Server(connectNodeAdapter({ routes }))), 15_000);
  for (const options of [{}, { timeoutMs: 600_000 }, { timeoutMs: 0 }])
    await services.identity(ClientService).listClients({}, options);
  services.close();
  expect(limits).toEqual(['15000m', '600000m', null]);
});

test('a command without a time limit ends when its server hangs', async () => {
  const program = `
    const server = require('node:http2').createServer().on('stream', () => process.kill(process.pid, 'SIGSTOP'));
    server.listen(0, '127.0.0.1', () => console.log(server.address().port));`;
  const server = spawn(process.execPath, ['--eval', program]);
  onTestFinished(() => void server.kill('SIGKILL'));
  const [port] = await once(server.stdout, 'data');
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const passing = setInterval(() => vi.advanceTimersByTime(1_000), 20);
  onTestFinished(() => clearInterval(passing));
  const { exit, err } = await run(['designs', 'verify', '--catalog', `127.0.0.1:${String(port).trim()}`]);
  expect({ exit, err }).toEqual({ exit: 3, err: expect.stringContaining('Nothing answers at 127.0.0.1') });
});

test('Ctrl-C ends an unanswered call at once', async () => {
  const server = mute();
  const identity = await addressOf(server);
  const interruption = new AbortController();
  server.once('connection', () => interruption.abort());
  const { signal } = interruption;
  const { exit, err } = await run(['client', 'list', '--identity', identity], { signal });
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
  const words = ['src/main.ts', 'client', 'list', '--json', '--identity', identity];
  const options = { cwd: join(import.meta.dirname, '../..') };
  const { code, stderr } = await promisify(execFile)(process.execPath, words, options).catch(
    (error) => error,
  );
  expect(code).toBe(3);
  expect(JSON.parse(stderr)).toMatchObject({ error: { message: expect.stringContaining(identity) } });
});

const here = () => 'here';

const failing = (): never => {
  throw new ConnectError('x', Code.Internal, { 'error-code': 'server_error' });
};

async function* failingLater() {
  yield {};
  failing();
}

test.each([['client list'], ['audit list --follow']])(
  'a failure of `%s` names the request for which the log is searched',
  async (line) => {
    const routes = (router: ConnectRouter) => {
      router.service(ClientService, { listClients: failing });
      router.service(AuditService, { listAuditEntries: () => ({}), followAuditEntries: failingLater });
    };
    const requestId = '00000000-0000-4000-8000-000000000000';
    const { exit, err } = await runAgainst(routes, line.split(' '));
    expect(exit).toBe(1);
    expect(err).toBe(`The service failed.\nLook for the request id ${requestId} in its log.\n`);
    const { err: json } = await runAgainst(routes, [...line.split(' '), '--json']);
    expect(JSON.parse(json)).toMatchObject({ error: { code: 'server_error', requestId } });
  },
);

test('every code of the wire has a text, and none besides', () => {
  expect(Object.keys(errorText).sort()).toEqual(Object.keys(operatorErrorStatuses).sort());
});

test('the service’s sentences are printed, one mistake per line, with the time when it becomes possible', () => {
  const trailers = {
    'error-code': 'refused_until',
    'error-detail': encodeURIComponent('The key is too young.\nIt was published just now.'),
    'error-possible-at': '2026-11-20T12:05:00Z',
  };
  expect(toCliError(new ConnectError('x', Code.FailedPrecondition, trailers), here)).toMatchObject({
    message: 'The key is too young.',
    exit: 'early',
    details: {
      mistakes: ['It was published just now.'],
      advice: expect.stringContaining('Possible from 2026-11-20'),
      code: 'refused_until',
    },
  });
});

test.each([
  [Code.Unavailable, 'unreachable'],
  [Code.DeadlineExceeded, 'unreachable'],
  [Code.Unimplemented, 'refused'],
  [Code.Canceled, 'unreachable'],
])('the status %s without a code of ours ends with %s', (status, exit) => {
  expect(toCliError(new ConnectError('x', status), here)).toMatchObject({ exit });
});

test('a broken detail is left out rather than believed', () => {
  const trailers = { 'error-code': 'conflict', 'error-detail': '%zz' };
  expect(toCliError(new ConnectError('x', Code.Aborted, trailers), here)).toMatchObject({
    message: 'Somebody else changed it.',
  });
});
