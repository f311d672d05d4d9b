// gRPC between services over mutual TLS: who is let in, and certificates that are followed while calls go on.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { TokenService } from '@course-exchange/proto/identity/v1/token';
import type { RpcServerOptions } from '@course-exchange/runtime/grpc/server';
import { openRpcTls, type RpcTls } from '@course-exchange/runtime/grpc/tls';
import { createLogger } from '@course-exchange/runtime/process/logger';
import { ConfigurationError } from '@course-exchange/runtime/process/settings';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { ownStopwatch } from '../support/own-time.ts';
import {
  type Authority,
  createAuthority,
  type Issued,
  type Mounted,
  mount,
} from './certificate-authority.ts';
import { client, pod } from './pods.ts';

const lines: string[] = [];
const logger = createLogger('test', 'info', (line) => lines.push(line));
let authority: Authority;
let calls: number;

beforeEach(async () => {
  authority = await createAuthority();
  calls = 0;
});
afterEach(() => {
  lines.length = 0;
});

const renewals = () => lines.filter((line) => line.includes('"certificates renewed"')).length;

function folder(content?: Mounted): string {
  const directory = mkdtempSync(join(tmpdir(), 'rpc-tls-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  if (content) mount(directory, content);
  return directory;
}

function open(directory: string): RpcTls {
  const tls = openRpcTls(directory, logger);
  if (!tls) throw new Error('no folder');
  onTestFinished(tls.close);
  return tls;
}

async function issued(by: Authority, names?: readonly string[], trusted = by.certificate): Promise<Mounted> {
  return { ...(await by.issue(names)), authority: trusted };
}

/** A new folder with a certificate by `by` for these names. */
async function tlsOf(by = authority, names?: readonly string[], trusted?: string): Promise<RpcTls> {
  return open(folder(await issued(by, names, trusted)));
}

async function serve(tls: RpcTls, more: Partial<RpcServerOptions> = {}): Promise<number> {
  const exchangeToken = async ({ code }: { code: string }) => {
    calls += 1;
    return { accessToken: code };
  };
  return (await pod({ exchangeToken }, { logger, credentials: tls.server, ...more })).port;
}

const targetOf = (port: number, tls: RpcTls | undefined) => ({
  target: `dns:///localhost:${port}`,
  credentials: tls?.channel,
});

function caller(port: number, tls: RpcTls | undefined) {
  const { exchangeToken } = client([], targetOf(port, tls));
  return async () => (await exchangeToken({ code: 'e' })).accessToken;
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

test('a caller with a certificate of another authority, without one, or without TLS, is refused', async () => {
  const port = await serve(await tlsOf());
  const stranger = await createAuthority('Stranger');
  await expectRefused(caller(port, await tlsOf(stranger, undefined, authority.certificate)));
  await expectRefused(caller(port, undefined));
  const withoutCertificate = createGrpcTransport({
    baseUrl: `https://localhost:${port}`,
    nodeOptions: { ca: authority.certificate },
  });
  await expect(createClient(TokenService, withoutCertificate).exchangeToken({})).rejects.toThrow();
  expect(calls).toBe(0);
});

test('a server of another authority, or of another name, is not spoken to', async () => {
  const stranger = await createAuthority('Stranger');
  const own = await tlsOf();
  const foreign = await serve(await tlsOf(stranger, undefined, authority.certificate));
  await expectRefused(caller(foreign, own));
  const otherName = await serve(await tlsOf(authority, ['identity']));
  await expectRefused(caller(otherName, own));
});

test('certificate and authority are replaced under calls, none of which fails', async () => {
  const next = await createAuthority('Next authority');
  const both = authority.certificate + next.certificate;
  let shown = await issued(authority);
  const [server, asking] = [folder(shown), folder(await issued(authority))];
  const port = await serve(open(server), { maxConnectionAgeMs: 300 });
  const ask = caller(port, open(asking));
  let going = true;
  const [times, failed]: [number[], unknown[]] = [[], []];
  const elapsed = ownStopwatch();
  const lanes = Array.from({ length: 4 }, async () => {
    while (going) {
      const begun = elapsed();
      await ask().then(
        () => times.push(elapsed() - begun),
        (error) => failed.push(error),
      );
      await sleep(2);
    }
  });
  const steps = [[authority, both] as const, [next, both] as const, [next, next.certificate] as const];
  for (const [step, [signer, trusted]] of steps.entries()) {
    shown = await issued(signer, undefined, trusted);
    mount(server, shown);
    mount(asking, await issued(signer, undefined, trusted));
    await expect.poll(renewals).toBe(2 * (step + 1));
    await sleep(600); // Longer than a connection lives.
  }
  going = false;
  await Promise.all(lanes);
  expect([failed, renewals()]).toEqual([[], 6]);
  expect(times.length).toBeGreaterThan(100);
  expect(Math.max(...times)).toBeLessThan(1_500);
  expect(await shownTo(await next.issue(), port)).toBe(shown.certificate);
  const before = calls;
  const ofTheOld = await tlsOf(authority, undefined, both);
  await expect(caller(port, ofTheOld)()).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  expect(calls).toBe(before);
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
  const problem = 'tls.key is not the key of tls.crt';
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'warn', problem });
  rmSync(join(directory, 'ca.crt'));
  await expect.poll(() => lines.length).toBe(2);
  expect(lines[1]).toContain('ca.crt cannot be read');
  expect(await shownTo(content, port)).toBe(content.certificate);
});

test('an unusable folder at the start is a configuration mistake, reported in one sentence', async () => {
  const content = await issued(authority);
  const { key } = await authority.issue();
  for (const [directory, problem] of [
    ['/nowhere', 'tls.crt cannot be read'],
    [folder({ ...content, authority: 'x' }), 'ca.crt holds no PEM certificate'],
    [folder({ ...content, certificate: '' }), 'tls.crt holds no PEM certificate'],
    [folder({ ...content, key }), 'tls.key is not the key of tls.crt'],
    [folder({ ...content, key: content.key.slice(0, 60) }), 'tls.key is not the key of tls.crt'],
  ] as const) {
    const sentence = `RPC_TLS_DIRECTORY is not valid: expected a folder with tls.crt, tls.key and ca.crt, but ${problem}`;
    expect(() => open(directory)).toThrow(ConfigurationError);
    expect(() => open(directory)).toThrow(expect.objectContaining({ mistakes: [sentence] }));
  }
  expect(openRpcTls(undefined, logger)).toBeUndefined();
});
