// What production refuses and a test environment may have.
import type { Values } from './render.ts';

/** Values laid over a set, and what the chart says of them. */
export type Row = readonly [what: string, values: Values, says: string];

const everyUri = Object.fromEntries(
  ['identityMigrator', 'catalogMigrator', 'identityRw', 'identityOperator', 'catalogRo', 'catalogFeed'].map(
    (role) => [role, { uriKey: 'uri' }],
  ),
);

export const inProduction: readonly Row[] = [
  [
    'an http issuer',
    { issuer: 'http://exchange.courses-of-the-north.net' },
    'issuer must be https in production: tokens and passwords pass there.',
  ],
  [
    'an issuer of an example',
    { issuer: 'https://exchange.example.net' },
    "issuer is an example's in production: set it to the address that partners will use.",
  ],
  [
    'the demo partner',
    {
      demoPartner: {
        enabled: true,
        existingSecret: 'a',
        publicUrl: 'https://planner.courses-of-the-north.net',
      },
    },
    'demoPartner.enabled is refused in production: the demo partner belongs into a test environment.',
  ],
  [
    'a seed',
    { migrations: { seed: { existingSecret: 'seed' } } },
    'migrations.seed.existingSecret is refused in production: partners are registered by operators with partnerctl.',
  ],
  [
    'one replica',
    { gateway: { replicas: 1, autoscaling: { enabled: false } } },
    'gateway has fewer than two pods in production: set gateway.replicas, or gateway.autoscaling.minReplicas, to 2 or more.',
  ],
  [
    'one replica at least',
    { identity: { autoscaling: { enabled: true, minReplicas: 1 } } },
    'identity has fewer than two pods in production',
  ],
  [
    'the tag latest',
    { image: { tag: 'latest' } },
    'gateway has the tag latest in production: name a version by image.tag or gateway.image.tag, or a digest.',
  ],
  [
    'the tag latest of one image',
    { migrations: { image: { tag: 'latest' } } },
    'migrations has the tag latest in production',
  ],
  [
    'services that speak in the clear',
    { internalTls: { enabled: false } },
    'internalTls.enabled must be true in production',
  ],
  [
    'pods that anybody reaches',
    { networkPolicy: { enabled: false } },
    'networkPolicy.enabled must be true in production',
  ],
  [
    'a Redis without password',
    { redis: { existingSecret: '' } },
    'redis.existingSecret is missing: production refuses a Redis without password.',
  ],
  [
    "an example's Secret",
    { secrets: { existingSecret: 'change-me' } },
    "secrets.existingSecret is an example's in production, for it says change-me: make one of this environment's own and name it.",
  ],
  [
    'a host of a demo',
    { postgres: { host: 'postgres.demo.svc.cluster.local' } },
    "postgres.host is an example's in production, for it says demo",
  ],
  [
    'people who are all one network',
    { gateway: { trustedProxies: [] } },
    "gateway.trustedProxies is missing in production: list the networks of the ingress controller's pods, else the login throttle takes all people for one.",
  ],
  [
    'URLs of Postgres that decide on TLS',
    { postgres: { host: '', roles: everyUri } },
    'postgres.host is missing: production takes no URL from uriKey, which says itself whether TLS is used; name the host, and user and password by usernameKey and passwordKey.',
  ],
  [
    'a Cluster that brings back tokens',
    { redis: { mode: 'cluster', minReplicas: 0 } },
    'redis.minReplicas must be 1 or more in production where redis.mode is cluster: a failover would bring back tokens that were used.',
  ],
  [
    'Sentinels that bring back tokens',
    { redis: { mode: 'sentinel', minReplicas: 0, sentinel: { masterName: 'exchange' } } },
    'redis.minReplicas must be 1 or more in production where redis.mode is sentinel',
  ],
];
