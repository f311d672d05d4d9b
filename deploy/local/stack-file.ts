// `.run/stack.json`: what a person or a test needs to use the running stack. It holds local demo credentials
// and nothing else.
import { postgresUrl } from './embedded-postgres.ts';
import { redisUrl } from './embedded-redis.ts';
import type { Partner, Person } from './seed-form.ts';
import type { StackPlan } from './service-members.ts';
import { database } from './store-members.ts';

export interface StackFile {
  readonly issuer: string;
  readonly partners: readonly Partner[];
  readonly users: readonly Person[];
  /** Superuser's address of the database. */
  readonly postgres: string;
  readonly redis: string;
  readonly processes: Readonly<Record<string, number>>;
  /** Where the demo partner is, for a browser. */
  readonly demoPartner: string;
  /** Where each process listens. */
  readonly addresses: Readonly<Record<string, string>>;
  /** Where partnerctl finds the surfaces that the gateway has no route to. */
  readonly operator: Readonly<Record<string, string>>;
  readonly logs: string;
  readonly supervisor: number;
}

export function describeStack(
  plan: StackPlan,
  content: { readonly partners: readonly Partner[]; readonly people: readonly Person[] },
  members: readonly {
    readonly address: string;
    readonly running: { readonly name: string; readonly pid: number };
  }[],
): StackFile {
  const { ports, secrets, issuer, demoPartner, run } = plan;
  const health = ['gateway', 'identity', 'design-catalog'] as const;
  return {
    issuer,
    partners: content.partners,
    users: content.people,
    postgres: postgresUrl(ports.postgres, 'postgres', secrets.postgresSuperuser, database),
    redis: redisUrl(ports.redis, secrets.redis),
    processes: Object.fromEntries(members.map(({ running }) => [running.name, running.pid])),
    demoPartner: demoPartner.url,
    addresses: Object.fromEntries([
      ...members.map(({ running, address }) => [running.name, address]),
      ...health.map((name) => [`${name} health`, `http://127.0.0.1:${ports[`${name}-health`]}`]),
    ]),
    operator: {
      identity: `127.0.0.1:${ports['identity-operator']}`,
      catalog: `127.0.0.1:${ports['design-catalog-feed']}`,
    },
    logs: run.logs,
    supervisor: process.pid,
  };
}
