// Production as the chart installs it: helm/course-exchange/values-production.yaml, with stores that speak TLS, Secrets by
// prepare.sh, and a partner, users and designs that an operator brings by partnerctl.
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { demoUsers } from '@course-exchange/local-stack/demo-accounts';
import { demoDesigns } from '@course-exchange/local-stack/demo-designs';
import { privatePorts } from '@course-exchange/rules/private-ports';
import { parse } from 'yaml';
import { hashPassword } from '../../services/identity/src/login/password.ts';
import { chart } from '../chart/render.ts';
import { root } from '../check/step.ts';
import { section, shellBlocks } from '../docs/documents.ts';
import type { DemoUser, Partner, StackFile } from '../support/stack-file.ts';
import {
  enterNamespace,
  findIngress,
  type Ingress,
  inProduction,
  leadTo,
  registration,
  runBlocks,
  trustIngress,
  untilLed,
} from './guide.ts';
import * as cluster from './kube.ts';
import { firstNode } from './nodes.ts';
import { type Component, podsOf, secret } from './pods.ts';
import { authority, database, signCertificate, startStores } from './stores.ts';

export type Production = Awaited<ReturnType<typeof installProduction>>;

export const replicas = 2;
export const connectionAgeSeconds = 10;
/** The chart mounts a program's Secrets here. */
const secretsDirectory = '/run/course-exchange/secrets';
/** Namespace of the observers, and the one that the release names there. */
export const monitoring = 'monitoring';
export const scraper = 'prometheus';

// Production refuses an issuer that is an example's, such as one below .test; no DNS is asked for it.
const host = 'exchange.courses-of-the-north.net';
const issuer = `https://${host}`;
const users = [demoUsers.typical, demoUsers.shares] as const;

const auditVolume = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'course-exchange-audit' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '64Mi' } } },
};

export async function installProduction() {
  const kube = await cluster.makeNamespace('production', 'restricted');
  const [stores, ingress] = await Promise.all([startStores(kube, true), findIngress(kube)]);
  leadTo(ingress.address, issuer);
  const variables = { NAMESPACE: kube.namespace, REDIS_PASSWORD: stores.redisPassword, PSQL: stores.psql };
  const prepare = () => runBlocks(['deploy/kubernetes/prepare.sh'], { ...variables, HOST: host });
  await prepare();
  await trustIngress(kube);
  await kube.apply(
    ...['postgres', 'redis'].map((name) => secret(`course-exchange-${name}-ca`, authority)),
    ...(await privatePortCertificates()),
    auditVolume,
  );
  const values = valuesWith(ingress);
  const directory = mkdtempSync(join(tmpdir(), 'production-'));
  const [first, second] = ['values.json', 'hosts.yaml'].map((file) => join(directory, file));
  writeFileSync(`${first}`, JSON.stringify(values));
  // The images are the same; the annotation makes other pods. JSON is YAML.
  const defaults = { ...values.defaults, podAnnotations: { version: 'second' } };
  writeFileSync(`${second}`, JSON.stringify({ ...values, defaults }));
  symlinkSync(join(root, 'helm'), join(directory, 'helm'));
  const files = [join(chart, 'values-production.yaml'), `${first}`];
  /** For `helm install` and `helm upgrade`: release, chart, values. */
  const helmWords = [cluster.release, chart, ...files.map((file) => `--values=${file}`)];
  await kube.helm('install', ...helmWords, '--wait', '--timeout=8m');
  const ask = async (component: Component, words: readonly string[], input?: string): Promise<string> => {
    // Another node may be cut off.
    const pods = (await podsOf(kube, component)).filter(({ ready }) => ready);
    const { name } = pods.find(({ node }) => node === firstNode) ?? pods[0] ?? { name: 'none is ready' };
    const within = [name, `--container=${component}`];
    const said = await kube.tryKubectl(['exec', '--stdin', ...within, '--', 'partnerctl', ...words], input);
    return cluster.checked(said, ['partnerctl', ...words]);
  };
  const [partner] = await Promise.all([
    register(
      (words, input) => ask('identity', words, input),
      (clientId) => approveAndActivate(kube, clientId),
    ),
    ask('identity', ['user', 'import', '-'], (await Promise.all(users.map(userLine))).join('')),
    ask('design-catalog', ['designs', 'import', '-'], designLines()),
  ]);
  await untilLed(issuer);
  /** Runs a block of the guide with production's values; those of the host are of another version. */
  const follow = (block = '') => {
    const ours = block.replace('values-test', 'values-production');
    return runBlocks([ours], { ...variables, TAG: cluster.imageTag }, directory);
  };
  const stack: StackFile = { issuer, partners: [partner], users };
  const partnerctl = (...words: readonly string[]) => ask('identity', words);
  return { kube, prepare, helmWords, follow, stack, partnerctl };
}

/** For the operators' port, the feed's and the CronJobs; the tool in the pod shows those of its port too. */
export function privatePortCertificates() {
  const roles = {
    operator: 'operator',
    feed: 'feed',
    'key-rotation': 'key-rotation',
    'audit-export': 'auditor',
  };
  const operator = `${cluster.release}-identity-operator.${cluster.namespaceOf('production')}.svc.cluster.local`;
  return Promise.all(
    Object.entries(roles).map(async ([name, role]) =>
      secret(
        `course-exchange-${name}-tls`,
        await signCertificate(`OU=${role}/CN=${name}`, 'localhost', operator),
      ),
    ),
  );
}

/** What the file leaves to the operator, requests that two cores hold, and a connection age that a test can wait for. */
function valuesWith({ namespace, networks: trustedProxies }: Ingress) {
  const inNamespace = (name: string) => ({
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } },
  });
  return {
    issuer,
    image: { repository: cluster.imagePrefix, tag: cluster.imageTag },
    // An autoscaler would follow the noise of two cores that everything shares, in the middle of counted pods.
    defaults: {
      resources: { requests: { cpu: '20m', memory: '96Mi' }, limits: { memory: '384Mi' } },
      autoscaling: { enabled: false },
    },
    postgres: { host: 'postgres', database },
    redis: { hosts: ['redis:6379'] },
    ingress: { className: cluster.ingressClass },
    networkPolicy: {
      ingressControllerFrom: [inNamespace(namespace)],
      monitoring: [
        { ...inNamespace(cluster.namespaceOf(monitoring)), podSelector: { matchLabels: { app: scraper } } },
      ],
    },
    gateway: { replicas, trustedProxies },
    identity: {
      replicas,
      auditExport: {
        existingClaim: auditVolume.metadata.name,
        tlsSecret: 'course-exchange-audit-export-tls',
      },
      extraEnv: ownEnvironment('PARTNERCTL_IDENTITY', 'OPERATOR'),
    },
    designCatalog: {
      replicas,
      extraEnv: ownEnvironment('PARTNERCTL_CATALOG', 'FEED'),
      feed: { tlsSecret: 'course-exchange-feed-tls' },
    },
  };
}

/**
 * In place of an operator with a certificate, and of the feed, the tool in the pod shows that of the port; connections
 * end after a while that a test can wait for.
 */
function ownEnvironment(address: string, port: keyof typeof privatePorts): readonly object[] {
  const files = ['CERT', 'KEY', 'CA'].map((file) => ({
    name: `PARTNERCTL_TLS_${file}`,
    value: `${secretsDirectory}/${port}_TLS_${file}`,
  }));
  const connectionAge = { name: 'MAX_CONNECTION_AGE_MS', value: `${connectionAgeSeconds * 1_000}` };
  return [{ name: address, value: `https://localhost:${privatePorts[port]}` }, ...files, connectionAge];
}

/** From draft to active, with the registration of docs/operate.md and two approvals, as production asks for. */
async function register(
  ask: (words: readonly string[], input?: string) => Promise<string>,
  approve: (clientId: string) => Promise<unknown>,
): Promise<Partner> {
  const { clientId, name, scopes, environments } = parse(registration);
  const made = await ask(['client', 'register', '-', '--with-secret', '--json'], registration);
  const clientSecret = `${/"secret": ?"([\w-]{43})"/.exec(made)?.[1]}`;
  await approve(clientId);
  const { redirectUris } = environments.production;
  return { name, clientId, clientSecret, redirectUris, scopes, active: true };
}

/** Approves and activates a client as docs/operate.md does in production: from outside, with a certificate, over forwarded ports. */
async function approveAndActivate(kube: cluster.Kube, clientId: string): Promise<void> {
  await kube.apply(secret('operator-ann', await signCertificate('OU=operator/CN=ann', 'ann')));
  const work = mkdtempSync(join(tmpdir(), 'operator-'));
  const [approval = ''] = shellBlocks(section('docs/operate.md', '## On-board a partner'), 'text');
  // By hand a port is open before the next line is typed.
  const untilOpen = (port: string) =>
    `timeout 60 bash -c 'until (: < /dev/tcp/localhost/${port}) 2> /dev/null; do sleep 0.2; done'`;
  const blocks = [
    enterNamespace,
    `trap 'kill $(jobs -p)' EXIT`,
    `partnerctl() { ${root}/node_modules/.bin/partnerctl "$@"; }`,
    inProduction.replaceAll(
      /^kubectl port-forward \S+ (\d+) &.*$/gm,
      (line, port) => `${line}\n${untilOpen(port)}`,
    ),
    `export PARTNERCTL_CATALOG=https://localhost:${privatePorts.FEED}`,
    approval.replaceAll('acme', clientId),
  ];
  await runBlocks(blocks, { NAMESPACE: kube.namespace, WORK: work }, work).finally(() =>
    rmSync(work, { recursive: true }),
  );
}

async function userLine({ sub, email, name, password }: DemoUser): Promise<string> {
  const user = { sub, email, emailVerified: true, name, passwordHash: await hashPassword(password) };
  return `${JSON.stringify(user)}\n`;
}

function designLines(): string {
  const owners = new Set<string>(users.map(({ sub }) => sub));
  const designs = [...demoDesigns()].filter(
    ({ owner, deletedAt }) => owners.has(owner) && deletedAt === null,
  );
  return designs
    .map(({ deletedAt: _, ...design }) => `${JSON.stringify({ op: 'upsert', revision: 1, ...design })}\n`)
    .join('');
}
