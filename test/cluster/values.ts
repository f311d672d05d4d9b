// The suite's values over those of an environment, helm/course-exchange/values-KIND.yaml: small requests, so that two cores
// hold everything, the images of this run, the Secrets that environment.ts makes, and a connection age that a test can wait
// for.
import {
  collectorImage,
  imagePrefix,
  imageTag,
  ingressClass,
  ingressNamespaceName,
  namespaceOf,
  runLabel,
} from './settings.ts';
import { database } from './store-manifests.ts';

/** Where the chart mounts a program's Secrets. */
export const secretsDirectory = '/run/course-exchange/secrets';

export const connectionAgeSeconds = 10;

/** Namespace of what observes the releases, and there: who scrapes, who takes traces and at which port. */
export const monitoring = 'monitoring';
export const scraper = 'prometheus';
export const traceCollector = 'collector';
export const otlpPort = 4318;
const observer = (app: string) => ({
  namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespaceOf(monitoring) } },
  podSelector: { matchLabels: { app } },
});

export type Kind = 'production' | 'test';

/** Where environments differ. */
export interface Choices {
  readonly kind: Kind;
  readonly issuer: string;
  readonly partnerUrl: string;
  readonly replicas: number;
  /** Address of the ingress as pods see it. */
  readonly ingressAddress: string;
  /** Networks from which the ingress controller calls. */
  readonly trustedProxies: readonly string[];
}

export const secretNames = {
  ingress: 'course-exchange-ingress-tls',
  stack: 'course-exchange-stack',
  tls: (component: string) => `course-exchange-${component}-tls`,
  operator: 'course-exchange-operator-tls',
  feed: 'course-exchange-feed-tls',
  postgresAuthority: 'course-exchange-postgres-ca',
  redisAuthority: 'course-exchange-redis-ca',
  role: (role: string) => `course-exchange-${role.replaceAll('_', '-')}`,
};

export function valuesFor(choices: Choices): object {
  const { kind, issuer, replicas } = choices;
  const own = kind === 'production' ? productionValues() : testValues(choices);
  return {
    issuer,
    image: { repository: imagePrefix, tag: imageTag },
    ...own,
    ...Object.fromEntries(
      ['gateway', 'identity', 'designCatalog'].map((name) => [
        name,
        {
          replicas,
          ...(name === 'gateway' ? { trustedProxies: choices.trustedProxies } : {}),
          ...(kind === 'production' ? privatePorts[name] : {}),
        },
      ]),
    ),
    rpc: { maxConnectionAgeMs: connectionAgeSeconds * 1_000 },
    networkPolicy: {
      ingressController: { namespaceSelector: ingressNamespace },
      // The issuer's own port, and those that ingress controllers give their pods.
      issuerPorts: [443, 8443],
      monitoring: [observer(scraper)],
      telemetryTo: [observer(traceCollector)],
    },
    tests: { existingSecret: secretNames.stack },
  };
}

const resources = { requests: { cpu: '20m', memory: '96Mi' }, limits: { memory: '384Mi' } };

/** In the place of an operator with a certificate, and of the feed: the tool in the pod shows that of the port. */
const toolInPod = (address: string, url: string, port: string) =>
  Object.entries({
    [address]: url,
    PARTNERCTL_TLS_CERT: `${secretsDirectory}/${port}_TLS_CERT`,
    PARTNERCTL_TLS_KEY: `${secretsDirectory}/${port}_TLS_KEY`,
    PARTNERCTL_TLS_CA: `${secretsDirectory}/${port}_TLS_CA`,
  }).map(([name, value]) => ({ name, value }));
const privatePorts: Readonly<Record<string, object>> = {
  identity: { extraEnv: toolInPod('PARTNERCTL_IDENTITY', 'https://localhost:7201', 'OPERATOR') },
  designCatalog: {
    extraEnv: toolInPod('PARTNERCTL_CATALOG', 'https://localhost:7301', 'FEED'),
    feed: { tlsSecret: secretNames.feed },
  },
};

/** What values-production.yaml leaves to the operator. Its identity keeps its own requests. */
function productionValues(): object {
  return {
    // An autoscaler would follow the noise of two cores that everything shares, in the middle of counted pods.
    defaults: { resources, autoscaling: { enabled: false } },
    postgres: { host: 'postgres', database },
    redis: { hosts: ['redis:6379'] },
    ingress: { className: ingressClass },
  };
}

function testValues({ issuer, partnerUrl, ingressAddress }: Choices): object {
  const { host } = new URL(issuer);
  const entry = { className: ingressClass };
  return {
    defaults: { resources },
    postgres: { host: 'postgres', database },
    redis: { hosts: ['redis:6379'], minReplicas: 1 },
    telemetry: collectorImage
      ? { endpoint: `http://${traceCollector}.${namespaceOf(monitoring)}:${otlpPort}` }
      : {},
    ingress: entry,
    demoPartner: {
      publicUrl: partnerUrl,
      ingress: entry,
      hostAliases: [{ ip: ingressAddress, hostnames: [host] }],
    },
  };
}

/** Any namespace but those of this run, unless INGRESS_NAMESPACE names the one of the ingress controller. */
const ingressNamespace = ingressNamespaceName
  ? { matchLabels: { 'kubernetes.io/metadata.name': ingressNamespaceName } }
  : { matchExpressions: [{ key: runLabel, operator: 'DoesNotExist' }] };
