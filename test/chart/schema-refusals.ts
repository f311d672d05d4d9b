// What values.schema.json refuses.
import type { Row } from './production-refusals.ts';

export const bySchema: readonly Row[] = [
  ['two modes of Redis at once', { redis: { mode: ['sentinel', 'cluster'] } }, 'redis.mode'],
  ['an unknown mode of Redis', { redis: { mode: 'both' } }, 'redis.mode'],
  ['an unknown environment', { environment: 'staging' }, 'environment'],
  ['a number as text', { gateway: { replicas: 'two' } }, 'gateway.replicas'],
  ['no pods', { gateway: { replicas: 0 } }, 'gateway.replicas'],
  ['a port as text', { postgres: { port: '5432' } }, 'postgres.port'],
  ['a truth as text', { ingress: { enabled: 'yes' } }, 'ingress.enabled'],
  [
    'a trusted proxy that is a name',
    { gateway: { trustedProxies: ['ingress'] } },
    'gateway.trustedProxies.0',
  ],
  ['an unknown algorithm', { identity: { accessTokenAlgorithm: 'HS256' } }, 'identity.accessTokenAlgorithm'],
  ['a digest that is none', { gateway: { image: { digest: 'latest' } } }, 'gateway.image.digest'],
];
