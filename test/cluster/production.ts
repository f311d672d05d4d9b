// Production as the chart installs it: helm/course-exchange/values-production.yaml, with stores that speak TLS, Secrets by
// prepare.sh, and a partner, users and designs that an operator brings by partnerctl.
import { pbkdf2Sync, randomBytes } from 'node:crypto';
import { mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { demoUsers } from '@course-exchange/local-stack/demo-accounts';
import { demoDesigns } from '@course-exchange/local-stack/demo-designs';
import { chart } from '../chart/render.ts';
import { root } from '../check/step.ts';
import type { DemoUser, Partner, StackFile } from '../support/stack-file.ts';
import { authority, signCertificate } from './certificates.ts';
import { runBlocks, trustIngress } from './guide.ts';
import { findIngress, type Ingress, leadTo, untilLed } from './ingress.ts';
import { type Kube, makeNamespace } from './kube.ts';
import { secret } from './programs.ts';
import { imagePrefix, imageTag, ingressClass, namespaceOf, release } from './settings.ts';
import { database, type Stores, startStores } from './stores.ts';

export interface Production {
  readonly kube: Kube;
  readonly stores: Stores;
  /** Makes what is missing of Secrets and roles. */
  readonly prepare: () => Promise<string>;
  /** Words for `helm install` and `helm upgrade`: release, chart, values. */
  readonly helmWords: readonly string[];
  /** Runs a block of the guide with production's values; those of the host are of another version. */
  readonly follow: (block: string | undefined) => Promise<unknown>;
  readonly stack: StackFile;
  readonly partnerctl: (...words: readonly string[]) => Promise<string>;
}

/** Pods of each component, so that one serves while another goes. */
export const replicas = 2;
export const connectionAgeSeconds = 10;
/** Where the chart mounts a program's Secrets. */
const secretsDirectory = '/run/course-exchange/secrets';
/** Namespace of the observers, and the one that the release names there. */
export const monitoring = 'monitoring';
export const scraper = 'prometheus';

// Production refuses an issuer that is an example's, such as one below .test; no DNS is asked for it.
const host = 'exchange.courses-of-the-north.net';
const issuer = `https://${host}`;
const users = [demoUsers.typical, demoUsers.shares] as const;

export async function installProduction(): Promise<Production> {
  const kube = await makeNamespace('production', 'restricted');
  const [stores, ingress] = await Promise.all([startStores(kube, true), findIngress(kube)]);
  leadTo(ingress.address, issuer);
  const variables = { NAMESPACE: kube.namespace, REDIS_PASSWORD: stores.redisPassword, PSQL: stores.psql };
  const prepare = () => runBlocks(['deploy/kubernetes/prepare.sh'], { ...variables, HOST: host });
  await prepare();
  await trustIngress(kube);
  await kube.apply(
    ...['postgres', 'redis'].map((name) => secret(`course-exchange-${name}-ca`, authority)),
    ...(await privatePortCertificates()),
  );
  const values = valuesWith(ingress);
  const directory = mkdtempSync(join(tmpdir(), 'production-'));
  const [first, second] = ['values.json', 'hosts.yaml'].map((file) => join(directory, file));
  writeFileSync(`${first}`, JSON.stringify(values));
  // Of the same images; the annotation makes other pods. JSON is YAML.
  const defaults = { ...values.defaults, podAnnotations: { version: 'second' } };
  writeFileSync(`${second}`, JSON.stringify({ ...values, defaults }));
  symlinkSync(join(root, 'helm'), join(directory, 'helm'));
  const files = [join(chart, 'values-production.yaml'), `${first}`];
  const helmWords = [release, chart, ...files.map((file) => `--values=${file}`)];
  await kube.helm('install', ...helmWords, '--wait', '--timeout=8m');
  const partnerctl = (component: string, words: readonly string[], input?: string) =>
    askPartnerctl(kube, component, words, input);
  const [partner] = await Promise.all([
    register((words, input) => partnerctl('identity', words, input)),
    partnerctl('identity', ['user', 'import', '-'], users.map(userLine).join('')),
    partnerctl('design-catalog', ['designs', 'import', '-'], designLines()),
  ]);
  await untilLed(issuer);
  const stack = { issuer, partners: [partner], users };
  const follow = (block = '') =>
    runBlocks(
      [block.replace('values-test', 'values-production')],
      { ...variables, TAG: imageTag },
      directory,
    );
  return {
    kube,
    stores,
    prepare,
    helmWords,
    follow,
    stack,
    partnerctl: (...words) => partnerctl('identity', words),
  };
}

/** Of the operators' port, the feed's and the rotation of keys; the tool in the pod shows those of its port too. */
export function privatePortCertificates() {
  const names = ['operator', 'feed', 'key-rotation'].map((name) => `course-exchange-${name}-tls`);
  const operator = `${release}-identity-operator.${namespaceOf('production')}.svc.cluster.local`;
  return Promise.all(names.map(async (name) => secret(name, await signCertificate('localhost', operator))));
}

/** What the file leaves to the operator, requests that two cores hold, and a connection age that a test can wait for. */
function valuesWith({ namespace, networks: trustedProxies }: Ingress) {
  const inNamespace = (name: string) => ({
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } },
  });
  return {
    issuer,
    image: { repository: imagePrefix, tag: imageTag },
    // An autoscaler would follow the noise of two cores that everything shares, in the middle of counted pods.
    defaults: {
      resources: { requests: { cpu: '20m', memory: '96Mi' }, limits: { memory: '384Mi' } },
      autoscaling: { enabled: false },
    },
    postgres: { host: 'postgres', database },
    redis: { hosts: ['redis:6379'] },
    ingress: { className: ingressClass },
    networkPolicy: {
      ingressController: inNamespace(namespace),
      monitoring: [
        { ...inNamespace(namespaceOf(monitoring)), podSelector: { matchLabels: { app: scraper } } },
      ],
    },
    gateway: { replicas, trustedProxies },
    identity: {
      replicas,
      extraEnv: ownEnvironment('PARTNERCTL_IDENTITY', 'https://localhost:7201', 'OPERATOR'),
    },
    designCatalog: {
      replicas,
      extraEnv: ownEnvironment('PARTNERCTL_CATALOG', 'https://localhost:7301', 'FEED'),
      feed: { tlsSecret: 'course-exchange-feed-tls' },
    },
  };
}

/**
 * In place of an operator with a certificate, and of the feed, the tool in the pod shows that of the port; connections
 * end after a while that a test can wait for.
 */
function ownEnvironment(address: string, url: string, port: string): readonly object[] {
  const files = ['CERT', 'KEY', 'CA'].map((file) => ({
    name: `PARTNERCTL_TLS_${file}`,
    value: `${secretsDirectory}/${port}_TLS_${file}`,
  }));
  const connectionAge = { name: 'MAX_CONNECTION_AGE_MS', value: `${connectionAgeSeconds * 1_000}` };
  return [{ name: address, value: url }, ...files, connectionAge];
}

async function askPartnerctl(kube: Kube, component: string, words: readonly string[], input?: string) {
  const within = ['exec', '--stdin', `deployment/${release}-${component}`, `--container=${component}`, '--'];
  const { code, output, errors } = await kube.tryKubectl([...within, 'partnerctl', ...words], input);
  if (code !== 0) throw new Error(`partnerctl ${words.join(' ')} ended with ${code}: ${output}${errors}`);
  return output;
}

/** From draft to active: two approvals, as production asks for. */
async function register(
  ask: (words: readonly string[], input?: string) => Promise<string>,
): Promise<Partner> {
  const [clientId, name, scopes] = ['ringside-results', 'Ringside Results', ['openid', 'email', 'profile']];
  const redirectUri = `https://${clientId}.example/callback`;
  const registration = {
    clientId,
    name,
    technicalContact: { name: 'Ann Example', email: 'ann@acme.example', phone: '+49 30 1234' },
    credentialContacts: [{ name: 'Bo Example', email: 'bo@acme.example' }],
    environments: {
      test: { redirectUris: ['http://127.0.0.1:3999/callback'] },
      production: { redirectUris: [redirectUri] },
    },
    scopes,
    userJourney: 'Riders connect once and see the courses of their events.',
    requirements: { logout: 'None.', unlinking: 'A button deletes our tokens.', retention: '30 days.' },
  };
  const made = await ask(
    ['client', 'register', '-', '--with-secret', '--json'],
    JSON.stringify(registration),
  );
  const clientSecret = `${/"secret": ?"([\w-]{43})"/.exec(made)?.[1]}`;
  for (const note of ['Test agreement', 'Agreement'])
    await ask(['client', 'approve', clientId, '--note', note]);
  await ask(['client', 'activate', clientId]);
  return { name, clientId, clientSecret, redirectUris: [redirectUri], scopes, active: true };
}

/** Its hash is cheap to make here; the first login replaces it. */
function userLine({ sub, email, name, password }: DemoUser): string {
  const [salt, iterations] = [randomBytes(16), 10_000];
  const [salted, hash] = [salt, pbkdf2Sync(password, salt, iterations, 32, 'sha256')].map((bytes) =>
    bytes.toString('base64').replace(/=+$/, ''),
  );
  const passwordHash = `$pbkdf2-sha256$i=${iterations}$${salted}$${hash}`;
  return `${JSON.stringify({ sub, email, emailVerified: true, name, passwordHash })}\n`;
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
