// gRPC between services over mutual TLS: who is let in, and certificates that are followed while calls go on.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { TokenService } from '@course-exchange/proto/identity/v1/token';
import { serviceErrorStatuses } from '@course-exchange/rules/error-codes';
import { connectRpc } from '@course-exchange/runtime/grpc/client';
import { expectPeer } from '@course-exchange/runtime/grpc/incoming-call';
import {
  bindService,
  type Handlers,
  type RpcServerOptions,
  serveRpc,
} from '@course-exchange/runtime/grpc/server';
import { openRpcTls, type RpcTls } from '@course-exchange/runtime/grpc/tls';
import { createLogger } from '@course-exchange/runtime/process/logger';
import { ConfigurationError } from '@course-exchange/runtime/process/settings';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ownStopwatch } from '../support/own-time.ts';
import {
  type Authority,
  createAuthority,
  type Issued,
  type Mounted,
  mount,
} from './certificate-authority.ts';

const closing: (() => Promise<void> | void)[] = [];
const lines: string[] = [];
const logger = createLogger('test', 'info', (line) => lines.push(line));
let authority: Authority;
let calls: number;

beforeEach(async () => {
  authority = await createAuthority();
  calls = 0;
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  lines.length = 0;
});

const messages = () => lines.map((line) => JSON.parse(line).message as string);

function folder(content?: Mounted): string {
  const directory = mkdtempSync(join(tmpdir(), 'rpc-tls-'));
  closing.push(() => rmSync(directory, { recursive: true }));
  if (content) mount(directory, content);
  return directory;
}

function open(directory: string): RpcTls {
  const tls = openRpcTls(directory, logger);
  if (!tls) throw new Error('no folder');
  closing.push(tls.close);
  return tls;
}

async function issued(by: Authority, names?: readonly string[], trusted = by.certificate): Promise<Mounted> {
  return { ...(await by.issue(names)), authority: trusted };
}

async function serve(tls: RpcTls | undefined, more: Partial<RpcServerOptions> = {}): Promise<number> {
  const handlers = {
    exchangeToken: async ({ code }: { code: string }) => {
      calls += 1;
      return { accessToken: code };
    },
  };
  const { port, stop } = await serveRpc({
    services: [bindService(TokenService, handlers as unknown as Handlers<typeof TokenService>)],
    errorStatuses: serviceErrorStatuses,
    logger,
    address: '127.0.0.1:0',
    credentials: tls?.server,
    ...more,
  });
  closing.push(() => stop(100));
  return port;
}

function caller(port: number, tls: RpcTls | undefined) {
  const target = `dns:///localhost:${port}`;
  const options = { target, reads: [], timeoutMs: 20_000, credentials: tls?.channel };
  const connection = connectRpc([TokenService], { ...options, streams: true });
  closing.push(connection.close);
  const client = connection.client(TokenService);
  return async () => (await client.exchangeToken({ code: 'e' })).accessToken;
}

/** The certificate that a new connection is shown, and whether it is let in. */
function shownTo({ certificate, key }: Issued, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(
      {
        ...{ port, host: '127.0.0.1', servername: 'localhost', ALPNProtocols: ['h2'] },
        ...{ cert: certificate, key, rejectUnauthorized: false },
      },
      () => {
        resolve(socket.getPeerX509Certificate()?.toString() ?? '');
        socket.destroy();
      },
    );
    socket.once('error', reject);
  });
}

async function expectRefused(ask: () => Promise<unknown>): Promise<void> {
  await expect(ask()).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  expect(calls).toBe(0);
}

test('a caller with a certificate of another authority is refused', async () => {
  const stranger = await createAuthority('Stranger');
  const port = await serve(open(folder(await issued(authority))));
  await expectRefused(caller(port, open(folder(await issued(stranger, undefined, authority.certificate)))));
});

test('a caller without a certificate, or without TLS, is refused', async () => {
  const port = await serve(open(folder(await issued(authority))));
  await expectRefused(caller(port, undefined));
  const withoutCertificate = createGrpcTransport({
    baseUrl: `https://localhost:${port}`,
    nodeOptions: { ca: authority.certificate },
  });
  await expect(createClient(TokenService, withoutCertificate).exchangeToken({})).rejects.toThrow();
  expect(calls).toBe(0);
});

test('a port answers the components that it names by their certificates, and no other', async () => {
  const authenticate: RpcServerOptions['authenticate'] = (call) => expectPeer(call, 'gateway');
  const port = await serve(open(folder(await issued(authority))), { authenticate });
  const callAs = async (...names: string[]) => caller(port, open(folder(await issued(authority, names))))();
  // The names in docs/install.md, and those that the chart asks cert-manager for.
  expect(await callAs('course-exchange-gateway.courses.svc.cluster.local')).toBe('e');
  expect(await callAs('x-course-exchange-gateway', 'x-course-exchange-gateway.courses.svc')).toBe('e');
  for (const names of [
    ['course-exchange-design-catalog.courses.svc.cluster.local'],
    ['course-exchange-identity', 'course-exchange-identity.gateway.svc', '*.courses.svc'],
    ['notgateway', 'gateway-identity', 'x, DNS:gateway, DNS:y'],
  ])
    await expect(callAs(...names)).rejects.toMatchObject({ code: 'permission_denied' });
  expect(calls).toBe(2);
});

test('a server of another authority, or of another name, is not spoken to', async () => {
  const stranger = await createAuthority('Stranger');
  const own = open(folder(await issued(authority)));
  const foreign = await serve(open(folder(await issued(stranger, undefined, authority.certificate))));
  await expectRefused(caller(foreign, own));
  const otherName = await serve(open(folder(await issued(authority, ['identity']))));
  await expectRefused(caller(otherName, own));
});

test('certificate and authority are replaced under calls, none of which fails', async () => {
  const next = await createAuthority('Next authority');
  const both = authority.certificate + next.certificate;
  const [server, client] = [folder(await issued(authority)), folder(await issued(authority))];
  const port = await serve(open(server), { maxConnectionAgeMs: 1_000 });
  const ask = caller(port, open(client));
  let going = true;
  const [times, failed]: [number[], unknown[]] = [[], []];
  const lanes = Array.from({ length: 4 }, async () => {
    while (going) {
      const elapsed = ownStopwatch();
      await ask().then(
        () => times.push(elapsed()),
        (error) => failed.push(error),
      );
      await sleep(2);
    }
  });
  const renewals = () => messages().filter((message) => message === 'certificates renewed').length;
  const steps = [[authority, both] as const, [next, both] as const, [next, next.certificate] as const];
  for (const [step, [signer, trusted]] of steps.entries()) {
    for (const directory of [server, client]) mount(directory, await issued(signer, undefined, trusted));
    await expect.poll(renewals).toBe(2 * (step + 1));
    await sleep(1_500); // Longer than a connection lives.
  }
  going = false;
  await Promise.all(lanes);
  expect([failed, renewals()]).toEqual([[], 6]);
  expect(times.length).toBeGreaterThan(100);
  expect(Math.max(...times)).toBeLessThan(1_500);
  const now = await next.issue();
  expect(await shownTo(now, port)).not.toBe('');
  const before = calls;
  const ofTheOld = open(folder(await issued(authority, undefined, both)));
  await expect(caller(port, ofTheOld)()).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  expect(calls).toBe(before);
});

test('a connection lives on over a new certificate, which the next one is shown', async () => {
  const directory = folder(await issued(authority));
  const tls = open(directory);
  const port = await serve(tls);
  const ask = caller(port, tls);
  expect(await ask()).toBe('e');
  const other = await createAuthority('Other');
  const replaced = await issued(other);
  mount(directory, replaced);
  await expect.poll(messages).toContain('certificates renewed');
  expect(await shownTo(replaced, port)).toBe(replaced.certificate);
  expect(await ask()).toBe('e');
});

test('files that are broken or gone leave the certificate before in use and warn once', async () => {
  const content = await issued(authority);
  const directory = folder(content);
  const tls = open(directory);
  const port = await serve(tls);
  mount(directory, { ...content, key: (await authority.issue()).key });
  await sleep(1_500); // Longer than the pause between two readings.
  await expect.poll(() => lines.length).toBe(1);
  expect(await caller(port, tls)()).toBe('e');
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    {
      level: 'warn',
      message: 'certificates kept: new ones are unusable',
      problem: 'tls.key is not the key of tls.crt',
    },
  ]);
  rmSync(join(directory, 'ca.crt'));
  await expect.poll(() => lines.length).toBe(2);
  expect(lines[1]).toContain('ca.crt cannot be read');
  expect(await shownTo(content, port)).toBe(content.certificate);
});

test('a folder that cannot be used at the start is a mistake of the configuration, told in one sentence', async () => {
  const expectMistake = (directory: string, problem: string) => {
    const sentence = `RPC_TLS_DIRECTORY is not valid: expected a folder with tls.crt, tls.key and ca.crt, but ${problem}`;
    expect(() => open(directory)).toThrow(ConfigurationError);
    expect(() => open(directory)).toThrow(expect.objectContaining({ mistakes: [sentence] }));
  };
  expectMistake('/nowhere', 'tls.crt cannot be read');
  const content = await issued(authority);
  expectMistake(folder({ ...content, authority: 'x' }), 'ca.crt holds no PEM certificate');
  expectMistake(folder({ ...content, certificate: '' }), 'tls.crt holds no PEM certificate');
  const { key } = await authority.issue();
  expectMistake(folder({ ...content, key }), 'tls.key is not the key of tls.crt');
  const halved = folder(content);
  writeFileSync(join(halved, 'tls.key'), content.key.slice(0, 60));
  expectMistake(halved, 'tls.key is not the key of tls.crt');
  expect(openRpcTls(undefined, logger)).toBeUndefined();
});
