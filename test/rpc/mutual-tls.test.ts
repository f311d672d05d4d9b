// gRPC between services over mutual TLS: who is let in, and certificates that are followed while calls go on.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { CatalogService } from '@course-exchange/proto/catalog/v1';
import { errorStatuses } from '@course-exchange/proto/error-codes';
import { ConfigurationError } from '@course-exchange/runtime/env';
import { createLogger } from '@course-exchange/runtime/logger';
import { connectRpc } from '@course-exchange/runtime/rpc-client';
import { type Handlers, served, serveRpc } from '@course-exchange/runtime/rpc-server';
import { namelessTarget, openRpcTls, type RpcTls } from '@course-exchange/runtime/rpc-tls';
import { afterEach, beforeEach, expect, test } from 'vitest';
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

async function serve(tls: RpcTls | undefined, maxConnectionAgeMs = 60_000): Promise<number> {
  const handlers = {
    listDesigns: async ({ eventId }: { eventId: string }) => {
      calls += 1;
      return { event: { id: eventId } };
    },
  };
  const { port, stop } = await serveRpc({
    services: [served(CatalogService, handlers as unknown as Handlers<typeof CatalogService>)],
    errorStatuses,
    logger,
    address: '127.0.0.1:0',
    maxConnectionAgeMs,
    credentials: tls?.server,
  });
  closing.push(() => stop(100));
  return port;
}

function caller(port: number, tls: RpcTls | undefined, host = 'localhost') {
  const target = `dns:///${host}:${port}`;
  const connection = connectRpc([CatalogService], {
    ...{ target, reads: [], timeoutMs: 1_500 },
    credentials: tls?.channel,
  });
  closing.push(connection.close);
  const client = connection.client(CatalogService);
  return async () => (await client.listDesigns({ eventId: 'e' })).event?.id;
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

test('with certificates of one authority on both sides a call is answered', async () => {
  const tls = open(folder(await issued(authority)));
  const port = await serve(tls);
  expect(await caller(port, tls)()).toBe('e');
});

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
  await expect(createClient(CatalogService, withoutCertificate).listDesigns({})).rejects.toThrow();
  expect(calls).toBe(0);
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
  const port = await serve(open(server), 1_000);
  const ask = caller(port, open(client));
  let going = true;
  let answered = 0;
  const failed: unknown[] = [];
  const lanes = Array.from({ length: 4 }, async () => {
    while (going) {
      await ask().then(
        () => answered++,
        (error) => failed.push(error),
      );
      await sleep(2);
    }
  });
  const steps: readonly (readonly [Authority, string])[] = [
    [authority, both],
    [next, both],
    [next, next.certificate],
  ];
  for (const [signer, trusted] of steps) {
    for (const directory of [server, client]) mount(directory, await issued(signer, undefined, trusted));
    await sleep(2_500);
  }
  going = false;
  await Promise.all(lanes);
  expect(failed).toEqual([]);
  expect(answered).toBeGreaterThan(1_000);
  expect(messages().filter((message) => message === 'certificates between services renewed')).toHaveLength(6);
  const now = await next.issue();
  expect(await shownTo(now, port)).not.toBe('');
  const before = calls;
  const ofTheOld = open(folder(await issued(authority, undefined, both)));
  await expect(caller(port, ofTheOld)()).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  expect(calls).toBe(before);
}, 30_000);

test('a connection lives on over a new certificate, which the next one is shown', async () => {
  const directory = folder(await issued(authority));
  const tls = open(directory);
  const port = await serve(tls);
  const ask = caller(port, tls);
  expect(await ask()).toBe('e');
  const other = await createAuthority('Other');
  const replaced = await issued(other);
  mount(directory, replaced);
  await expect.poll(messages, { timeout: 3_000 }).toContain('certificates between services renewed');
  expect(await shownTo(replaced, port)).toBe(replaced.certificate);
  expect(await ask()).toBe('e');
});

test('files that are broken or gone leave the certificate before in use and warn once', async () => {
  const content = await issued(authority);
  const directory = folder(content);
  const tls = open(directory);
  const port = await serve(tls);
  mount(directory, { ...content, key: (await authority.issue()).key });
  await sleep(2_500);
  expect(await caller(port, tls)()).toBe('e');
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    {
      level: 'warn',
      message: 'certificates between services kept: new ones are unusable',
      problem: 'tls.key is not the key of tls.crt',
    },
  ]);
  rmSync(join(directory, 'ca.crt'));
  await expect.poll(() => lines.length, { timeout: 3_000 }).toBe(2);
  expect(lines[1]).toContain('ca.crt cannot be read');
  expect(await shownTo(content, port)).toBe(content.certificate);
});

test('a folder that cannot be used at the start is a mistake of the configuration, told in one sentence', async () => {
  const mistake = (directory: string): string => {
    try {
      open(directory);
    } catch (error) {
      if (error instanceof ConfigurationError) return error.mistakes.join('\n');
    }
    return '';
  };
  const expected = 'RPC_TLS_DIRECTORY is not valid: expected a folder with tls.crt, tls.key and ca.crt, but ';
  expect(mistake('/nowhere')).toBe(`${expected}tls.crt cannot be read`);
  const content = await issued(authority);
  expect(mistake(folder({ ...content, authority: 'x' }))).toBe(`${expected}ca.crt holds no PEM certificate`);
  expect(mistake(folder({ ...content, certificate: '' }))).toBe(
    `${expected}tls.crt holds no PEM certificate`,
  );
  expect(mistake(folder({ ...content, key: (await authority.issue()).key }))).toBe(
    `${expected}tls.key is not the key of tls.crt`,
  );
  const halved = folder(content);
  writeFileSync(join(halved, 'tls.key'), content.key.slice(0, 60));
  expect(mistake(halved)).toBe(`${expected}tls.key is not the key of tls.crt`);
  expect(openRpcTls(undefined, logger)).toBeUndefined();
});

test('a target by address has no name to check: a mistake of the configuration where there is a folder', () => {
  const mistakes = (target: string, directory?: string) =>
    namelessTarget('IDENTITY_TARGET', target, directory);
  for (const target of ['10.0.0.7:7001', 'ipv4:10.0.0.7:7001', 'dns:///[::1]:7001', 'ipv6:[::1]:7001'])
    expect(mistakes(target, '/tls')).toEqual([
      'IDENTITY_TARGET is not valid: expected the name of a host where RPC_TLS_DIRECTORY is set',
    ]);
  expect(mistakes('10.0.0.7:7001')).toEqual([]);
  for (const target of ['dns:///identity:7001', 'identity:7001', 'dns:///identity.test.svc'])
    expect(mistakes(target, '/tls')).toEqual([]);
});
