// Which role may call which method of the operators' port and the feed's: both services as real processes, without stores.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import type { DescMethod, DescMethodStreaming, DescMethodUnary, DescService } from '@bufbuild/protobuf';
import { Code, createClient, type Transport } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { FeedService } from '@course-exchange/proto/feed/v1';
import { ConsentService } from '@course-exchange/proto/operator/v1/consent';
import { operatorRoles } from '@course-exchange/rules/operator-roles';
import { methodPath } from '@course-exchange/runtime/grpc/methods';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from '../check/step.ts';
import { startTool, toolEnvironment } from '../operator/tool.ts';
import { refusalOf } from '../support/grpc-client.ts';
import { createAuthority, type Issued } from './certificate-authority.ts';

const generated = join(root, 'proto/generated/courseexchange');
const files = globSync('{operator,feed}/v1/*_service_pb.ts', { cwd: generated });
const modules: readonly object[] = await Promise.all(files.map((file) => import(join(generated, file))));
const isService = (one: { readonly kind?: string }): one is DescService => one.kind === 'service';
const methods = modules
  .flatMap((one) => Object.values(one))
  .filter(isService)
  .flatMap((one) => one.methods);

const auditor = `AuditService/FollowAuditEntries AuditService/ListAuditEntries AuditService/VerifyAudit
  ClientService/DescribeInstallation ClientService/GetClient ClientService/ListClients ConductService/GetConduct
  ConsentService/ListConsents FeedService/GetResumePoint FeedService/MeasureVolume FeedService/Verify KeyService/ListKeys
  RefusalService/ListRefusals SecretService/ListSecrets`.split(/\s+/);
const keyRotation = ['KeyService/ListKeys', 'KeyService/RotateKeys'];
const feed = 'Apply GetResumePoint MeasureVolume Verify'.split(' ').map((name) => `FeedService/${name}`);
const nameOf = ({ parent, name }: DescMethod) => `${parent.name}/${name}`;
const all = methods.map(nameOf).sort();

test('a role has what the table gives it; a method that the table lacks is for operators alone', () => {
  expect(all.length).toBeGreaterThanOrEqual(40);
  const paths = methods.map(methodPath);
  for (const path of Object.keys(operatorRoles.methods)) expect(paths).toContain(path);
  for (const roles of Object.values(operatorRoles.methods)) {
    expect(roles[0]).toBe('operator');
    expect(operatorRoles.roles).toEqual(expect.arrayContaining([...roles]));
  }
});

const authority = await createAuthority();
const server = await authority.issue();
const home = mkdtempSync(join(tmpdir(), 'roles-'));
const text = (name: string, content: string): string => {
  writeFileSync(join(home, name), content);
  return join(home, name);
};
const tls = { CERT: server.certificate, KEY: server.key, CA: authority.certificate };

const closed = 'postgres://nobody@127.0.0.1:1/none';
const key = Buffer.alloc(32, 7).toString('base64');
const common = {
  ISSUER: 'http://127.0.0.1:8080',
  POSTGRES_URL: closed,
  USER_HASH_KEY: key,
  RPC_PORT: '0',
  HEALTH_PORT: '0',
  OTEL_METRICS_EXPORTER: 'none',
};

/** A service whose private port takes certificates alone; resolves when it listens. */
async function start(service: string, prefix: string, own: Readonly<Record<string, string>>) {
  const files = Object.entries(tls).map(([part, content]) => [
    `${prefix}_TLS_${part}_FILE`,
    text(`${service}-${part}`, content),
  ]);
  const port = { [`${prefix}_POSTGRES_URL`]: closed, [`${prefix}_PORT`]: '0', [`${prefix}_HOST`]: '0.0.0.0' };
  const env = { PATH: process.env.PATH, ...common, ...port, ...Object.fromEntries(files), ...own };
  const child = spawn(process.execPath, [join(root, 'services', service, 'src/main.ts')], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: Record<string, unknown>[] = [];
  const listening = Promise.withResolvers<Record<string, unknown>>();
  createInterface(child.stdout).on('line', (line) => {
    const read = JSON.parse(line);
    lines.push(read);
    if (read.message === 'listening') listening.resolve(read);
  });
  child.once('exit', () => listening.reject(new Error(`${service} ended: ${JSON.stringify(lines.at(-1))}`)));
  const { operatorPort, feedPort } = await listening.promise;
  const stop = async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return {
    port: operatorPort ?? feedPort,
    stop,
    linesOf: (message: string) => lines.filter((one) => one.message === message),
  };
}

type Started = Awaited<ReturnType<typeof start>>;
let identity: Started;
let catalog: Started;

beforeAll(async () => {
  [identity, catalog] = await Promise.all([
    start('identity', 'OPERATOR', {
      ENVIRONMENT: 'test',
      KEY_ENCRYPTION_KEY: key,
      REDIS_URL: 'redis://127.0.0.1:1',
    }),
    start('design-catalog', 'FEED', { IDENTITY_TARGET: 'dns:///127.0.0.1:1' }),
  ]);
});
afterAll(async () => {
  await Promise.all([identity?.stop(), catalog?.stop()]);
  rmSync(home, { recursive: true });
});

const portsOf = ({ parent }: DescMethod): readonly Started[] =>
  parent.name === 'AuditService' ? [identity, catalog] : [parent.name === 'FeedService' ? catalog : identity];

function transportTo({ port }: Started, { certificate, key }: Issued): Transport {
  const nodeOptions = { ca: authority.certificate, cert: certificate, key };
  return createGrpcTransport({ baseUrl: `https://localhost:${port}`, nodeOptions, defaultTimeoutMs: 5_000 });
}

/** What the caller learns: every call fails, because there are no stores. */
function call(transport: Transport, method: DescMethod) {
  const answer =
    method.methodKind === 'unary'
      ? transport.unary(method as DescMethodUnary, undefined, undefined, undefined, {})
      : transport
          .stream(method as DescMethodStreaming, undefined, undefined, undefined, Readable.from([{}]))
          .then(({ message }) => Array.fromAsync(message));
  return refusalOf(answer.then((said) => Promise.reject(new Error(JSON.stringify(said)))));
}

const subjects: Readonly<Record<string, string>> = {
  operator: 'CN=ann/OU=operator',
  auditor: 'CN=carol/OU=auditor',
  'key-rotation': 'CN=key-rotation/OU=key-rotation',
  feed: 'OU=feed/CN=platform',
};
const issue = (subject: string) => authority.issue(undefined, subject);

/** The methods that refuse nothing, at every port that has them; and the sentences of those that refuse. */
async function reach(certificate: Issued) {
  const open = new Set<string>();
  const sentences = new Set<string>();
  const transports = new Map([identity, catalog].map((one) => [one, transportTo(one, certificate)]));
  for (const method of methods)
    for (const port of portsOf(method)) {
      const said = await call(transports.get(port) as Transport, method);
      if (said.errorCode !== 'permission_denied') open.add(nameOf(method));
      else {
        expect(said.status).toBe(Code.PermissionDenied);
        sentences.add(said.sentences.join('\n'));
      }
    }
  return { open: [...open].sort(), sentences: [...sentences] };
}

test.each([
  ['operator', all],
  ['auditor', auditor],
  ['key-rotation', keyRotation],
  ['feed', feed],
])('a certificate of the role %s reaches its methods alone, at both ports', async (role, own) => {
  const { open, sentences } = await reach(await issue(`${subjects[role]}`));
  expect(open).toEqual(own);
  for (const sentence of sentences)
    expect(sentence).toMatch(
      new RegExp(`^\\w+ is not for a certificate of the role ${role}, only for [a-z, -]+\\.$`),
    );
  const refused = [identity, catalog].flatMap((one) => one.linesOf('operator refused'));
  if (role !== 'operator')
    expect(refused).toContainEqual(
      expect.objectContaining({ level: 'warn', role, operator: expect.stringMatching(/^cert:/) }),
    );
});

test.each([
  'CN=ann/OU=admin',
  'CN=ann/OU=Operator',
  'CN=ann/OU=operator,auditor',
  'CN=ann/OU= operator',
  'CN=ann/OU=operator/OU=operator',
  'CN=ann/OU=auditor/OU=operator',
  'CN=ann/OU=auditor+OU=operator',
  'CN=ann/OU=__proto__',
])('a certificate of %s is refused everywhere with one sentence', async (subject) => {
  const { open, sentences } = await reach(await issue(subject));
  expect({ open, sentences }).toEqual({
    open: [],
    sentences: [
      'The certificate must have exactly one OU, which names its role: operator, auditor, key-rotation, feed.',
    ],
  });
});

test('a certificate without an OU reaches what an operator reaches, with one warning for its name', async () => {
  for (const name of ['old', 'old', 'older']) expect((await reach(await issue(name))).open).toEqual(all);
  for (const service of [identity, catalog])
    expect(
      service.linesOf('certificate without a role').map(({ level, operator }) => [level, operator]),
    ).toEqual([
      ['warn', 'cert:old'],
      ['warn', 'cert:older'],
    ]);
});

test('an auditor names no user by e-mail address and repairs no summary', async () => {
  const certificate = await issue(`${subjects.auditor}`);
  const consents = createClient(ConsentService, transportTo(identity, certificate));
  const feeds = createClient(FeedService, transportTo(catalog, certificate));
  const byEmail = { user: { name: { case: 'email', value: 'ann@example.com' } } } as const;
  expect(await refusalOf(consents.listConsents(byEmail))).toMatchObject({
    errorCode: 'permission_denied',
    sentences: ['An auditor names a user by sub, not by e-mail address.'],
  });
  const bySub = { user: { name: { case: 'sub', value: 'u' } } } as const;
  expect(await refusalOf(consents.listConsents(bySub))).toMatchObject({
    errorCode: 'temporarily_unavailable',
  });
  expect(await refusalOf(Array.fromAsync(feeds.verify({ repair: true })))).toMatchObject({
    errorCode: 'permission_denied',
    sentences: ['An auditor repairs nothing.'],
  });
});

test('partnerctl prints the sentence of a refusal and ends with 1', async () => {
  const { certificate, key } = await issue(`${subjects['key-rotation']}`);
  const environment = toolEnvironment({
    PARTNERCTL_IDENTITY: `https://localhost:${identity.port}`,
    PARTNERCTL_TLS_CERT: text('tool.crt', certificate),
    PARTNERCTL_TLS_KEY: text('tool.key', key),
    PARTNERCTL_TLS_CA: text('tool-ca.crt', authority.certificate),
  });
  const { exit, out, err } = await startTool(['client', 'deactivate', 'acme', '--yes'], environment).ended;
  expect({ exit, out, err }).toEqual({
    exit: 1,
    out: '',
    err: 'DeactivateClient is not for a certificate of the role key-rotation, only for operator.\n',
  });
});
