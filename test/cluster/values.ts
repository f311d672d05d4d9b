// The suite's values over helm/course-exchange/values-test.yaml: small requests, so that two cores hold everything, the
// images of this run, the Secrets that environment.ts makes, and a connection age that a test can wait for.

import { imagePrefix, imageTagBefore, ingressClass } from './settings.ts';
import { database, roles } from './store-manifests.ts';

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
  tls: (component: string) => `course-exchange-${component}-tls`,
  role: (role: string) => `course-exchange-${role.replaceAll('_', '-')}`,
};

export function valuesFor({ issuer, partnerUrl, replicas, ingressAddress }: Choices): object {
  const { host } = new URL(issuer);
  return {
    issuer,
    image: { registry: '', repository: imagePrefix, tag: imageTagBefore, pullPolicy: 'IfNotPresent' },
    defaults: {
      replicas,
      autoscaling: { enabled: false },
      resources: { requests: { cpu: '20m', memory: '96Mi' }, limits: { memory: '256Mi' } },
    },
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
      certManager: { enabled: false },
      secretNames: {
        gateway: secretNames.tls('gateway'),
        identity: secretNames.tls('identity'),
        designCatalog: secretNames.tls('design-catalog'),
      },
    },
    ingress: {
      enabled: true,
      className: ingressClass,
      tls: { enabled: true, existingSecret: secretNames.ingress },
    },
    demoPartner: {
      enabled: true,
      publicUrl: partnerUrl,
      hostAliases: [{ ip: ingressAddress, hostnames: [host] }],
    },
  };
}

function camelCase(role: string): string {
  return role.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
