// The suite's values over helm/course-exchange/values-test.yaml: small requests, so that two cores hold everything, the
// images of this run, the Secrets that environment.ts makes, and a connection age that a test can wait for.

import { roles } from '../support/database-roles.ts';
import { imagePrefix, imageTag, ingressClass, ingressNamespaceName, runLabel } from './settings.ts';
import { database } from './store-manifests.ts';

export const connectionAgeSeconds = 10;

/** Where an upgrade or a second environment differs. */
export interface Choices {
  readonly issuer: string;
  readonly partnerUrl: string;
  readonly replicas: number;
  /** Address of the ingress as pods see it. */
  readonly ingressAddress: string;
}

export const secretNames = {
  keys: 'course-exchange-keys',
  redis: 'course-exchange-redis',
  ingress: 'course-exchange-ingress-tls',
  partner: 'course-exchange-demo-partner',
  stack: 'course-exchange-stack',
  tls: (component: string) => `course-exchange-${component}-tls`,
  role: (role: string) => `course-exchange-${role.replaceAll('_', '-')}`,
};

export function valuesFor({ issuer, partnerUrl, replicas, ingressAddress }: Choices): object {
  const { host } = new URL(issuer);
  const entry = { enabled: true, className: ingressClass, tls: { existingSecret: secretNames.ingress } };
  return {
    environment: 'test',
    issuer,
    image: { repository: imagePrefix, tag: imageTag },
    defaults: { resources: { requests: { cpu: '20m', memory: '96Mi' }, limits: { memory: '384Mi' } } },
    ...Object.fromEntries(['gateway', 'identity', 'designCatalog'].map((name) => [name, { replicas }])),
    rpc: { maxConnectionAgeMs: connectionAgeSeconds * 1_000 },
    postgres: {
      host: 'postgres',
      database,
      tls: { mode: 'disable' },
      roles: Object.fromEntries(
        roles.map((role) => [camelCase(role), { existingSecret: secretNames.role(role) }]),
      ),
    },
    redis: { hosts: ['redis:6379'], existingSecret: secretNames.redis, minReplicas: 1 },
    secrets: { existingSecret: secretNames.keys },
    internalTls: {
      enabled: true,
      secretNames: {
        gateway: secretNames.tls('gateway'),
        identity: secretNames.tls('identity'),
        designCatalog: secretNames.tls('design-catalog'),
      },
    },
    ingress: entry,
    networkPolicy: {
      ingressController: { namespaceSelector: ingressNamespace },
      // The issuer's own port, and those that ingress controllers give their pods.
      issuerPorts: [443, 8443],
    },
    demoPartner: {
      enabled: true,
      publicUrl: partnerUrl,
      existingSecret: secretNames.partner,
      ingress: entry,
      hostAliases: [{ ip: ingressAddress, hostnames: [host] }],
      extraEnv: [{ name: 'NODE_EXTRA_CA_CERTS', value: '/authority/ca.crt' }],
      extraVolumes: [{ name: 'authority', secret: { secretName: secretNames.ingress } }],
      extraVolumeMounts: [{ name: 'authority', mountPath: '/authority', readOnly: true }],
    },
    tests: { existingSecret: secretNames.stack },
  };
}

/** Any namespace but those of this run, unless INGRESS_NAMESPACE names the one of the ingress controller. */
const ingressNamespace = ingressNamespaceName
  ? { matchLabels: { 'kubernetes.io/metadata.name': ingressNamespaceName } }
  : { matchExpressions: [{ key: runLabel, operator: 'DoesNotExist' }] };

function camelCase(role: string): string {
  return role.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
