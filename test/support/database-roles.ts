// The roles of deploy/postgres/roles.sql that log in.

export const roles = [
  'identity_migrator',
  'catalog_migrator',
  'identity_rw',
  'identity_operator',
  'catalog_ro',
  'catalog_feed',
] as const;
export type Role = (typeof roles)[number];
