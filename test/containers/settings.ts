// Which images the suites run: names come from the environment, so that a machine with a registry takes the official
// stores and one without takes those of deploy/offline-images.

const prefix = process.env.IMAGE_PREFIX ?? 'course-exchange';
const tag = process.env.IMAGE_TAG ?? '0.1.0';

export const serviceNames = ['gateway', 'identity', 'design-catalog', 'demo-partner'] as const;
export type ServiceName = (typeof serviceNames)[number];

/** Images that run to an end. */
export type JobName = 'migrations' | 'contract-tests';

export function imageOf(name: ServiceName | JobName): string {
  return `${prefix}/${name}:${tag}`;
}

export const postgresImage = process.env.POSTGRES_IMAGE ?? 'postgres:18';
export const redisImage = process.env.REDIS_IMAGE ?? 'redis:8';
/** Empty where there is none. */
export const toxiproxyImage = process.env.TOXIPROXY_IMAGE ?? 'ghcr.io/shopify/toxiproxy:2.12.0';
/** The Compose client with its first arguments; empty where there is none. */
export const compose = (process.env.COMPOSE ?? '').split(' ').filter((word) => word !== '');
