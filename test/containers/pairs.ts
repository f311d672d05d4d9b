// The pairs of processes that speak with one another.

/** Who calls whom, and where the callee listens. */
export const pairs = {
  'gateway–identity': 'identity:7001',
  'gateway–catalog': 'design-catalog:7002',
  'catalog–identity': 'identity:7001',
  'identity–Postgres': 'postgres:5432',
  'identity–Redis': 'redis:6379',
  'catalog–Postgres': 'postgres:5432',
} as const;
export type Pair = keyof typeof pairs;
