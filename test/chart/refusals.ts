// Values that the chart refuses, and what it says then.
import { ofPods } from './pod-refusals.ts';
import { inProduction, type Row } from './production-refusals.ts';
import type { Values } from './render.ts';
import { bySchema } from './schema-refusals.ts';

export interface Refusal {
  readonly what: string;
  /** The set that is laid under the values; it is accepted as it stands. */
  readonly on: string;
  readonly values: Values;
  /** Part of the answer; of a schema's answer, whose words change with Helm's version, the path alone. */
  readonly says: string;
}

const anywhere: readonly Row[] = [
  ['no environment', { environment: '' }, 'environment is missing: set it to production or test.'],
  ['no issuer', { issuer: '' }, 'issuer is missing: set it to the public origin of this environment'],
  ['an issuer with a path', { issuer: 'https://exchange.test/path' }, 'issuer is not an origin'],
  [
    'no Secret of keys',
    { secrets: { existingSecret: '' } },
    'secrets.existingSecret is missing: make a Secret with key-encryption-key and user-hash-key, and name it.',
  ],
  [
    'no Secret of a role',
    { postgres: { roles: { catalogRo: { existingSecret: '' } } } },
    'postgres.roles.catalogRo.existingSecret is missing: make a Secret with the login of role catalog_ro, and name it.',
  ],
  [
    'no host of Postgres',
    { postgres: { host: '' } },
    'postgres.host is missing: name the host of Postgres, or give every role a uriKey.',
  ],
  [
    'a URL of Postgres beside its host',
    { postgres: { roles: { catalogRo: { uriKey: 'uri' } } } },
    'postgres.roles.catalogRo.uriKey stands beside postgres.host: leave it empty',
  ],
  [
    'a host for reads beside URLs',
    { postgres: { host: '', readHost: 'replicas' } },
    'postgres.readHost needs postgres.host',
  ],
  ['no host of Redis', { redis: { hosts: [] } }, 'redis.hosts is missing'],
  [
    'several hosts of one Redis',
    { redis: { hosts: ['a:6379', 'b:6379'] } },
    'redis.hosts has more than one host: name one, or set redis.mode to sentinel or cluster.',
  ],
  ['Sentinels without a name', { redis: { mode: 'sentinel' } }, 'redis.sentinel.masterName is missing'],
  [
    'a Cluster with databases',
    { redis: { mode: 'cluster', database: 1 } },
    'redis.database must be 0 where redis.mode is cluster',
  ],
  [
    "another host than the issuer's",
    { ingress: { host: 'other.test' } },
    "ingress.host is not the issuer's host: set it to exchange.test, or leave it empty.",
  ],
  ['an HTTPRoute of no Gateway', { httpRoute: { enabled: true } }, 'httpRoute.parentRefs is missing'],
  [
    'an Ingress that nobody gets through',
    { networkPolicy: { ingressController: { namespaceSelector: null } } },
    'networkPolicy.ingressController is missing',
  ],
  [
    'a demo partner in the clear',
    { demoPartner: { enabled: true, existingSecret: 'a', publicUrl: 'http://planner.test' } },
    'demoPartner.publicUrl is not an https origin',
  ],
  [
    'a demo partner without Secret',
    { demoPartner: { enabled: true, publicUrl: 'https://planner.test' } },
    'demoPartner.existingSecret is missing',
  ],
  [
    'a demo partner of an http issuer',
    {
      issuer: 'http://exchange.test',
      demoPartner: { enabled: true, existingSecret: 'a', publicUrl: 'https://planner.test' },
    },
    'demoPartner.enabled needs an https issuer',
  ],
  [
    'a key rotation that reaches nobody',
    { identity: { keyRotation: { enabled: true, tlsSecret: 'a' } } },
    'identity.keyRotation.enabled needs identity.operator.tlsSecret',
  ],
  [
    'a key rotation that is nobody',
    { identity: { keyRotation: { enabled: true }, operator: { tlsSecret: 'a' } } },
    'identity.keyRotation.tlsSecret is missing',
  ],
  [
    'certificates of nobody',
    { internalTls: { enabled: true, certManager: { enabled: true } } },
    'internalTls.certManager.issuerRef is missing',
  ],
  [
    'certificates that are nowhere',
    { internalTls: { enabled: true } },
    'internalTls.secretNames.designCatalog is missing',
  ],
  [
    'certificates that are renewed without end',
    {
      internalTls: {
        enabled: true,
        certManager: { enabled: true, issuerRef: { name: 'a' }, duration: '24h', renewBefore: '1440m' },
      },
    },
    'internalTls.certManager.renewBefore must be shorter than duration',
  ],
  [
    'metrics that nobody may read',
    { metrics: { serviceMonitor: { enabled: true } } },
    'metrics.serviceMonitor.enabled needs networkPolicy.monitoring',
  ],
];

const rows = (on: string, table: readonly Row[]): readonly Refusal[] =>
  table.map(([what, values, says]) => ({ what, on, values, says }));

export const refusals: readonly Refusal[] = [
  ...rows('production-hosts', inProduction),
  ...rows('test-minimal-values', anywhere),
  ...rows('test-minimal-values', ofPods),
];

/** Refused by values.schema.json. */
export const schemaRefusals: readonly Refusal[] = rows('test-minimal-values', bySchema);
