// Postgres and Redis with a replica, as an operator brings them: empty.
import { randomBytes } from 'node:crypto';
import { signCertificate } from './certificates.ts';
import { eventually, type Kube } from './kube.ts';
import { kubectlProgram, runDirectory } from './settings.ts';
import {
  configMap,
  database,
  encryptedOnly,
  postgres,
  redis,
  redisClientTls,
  secret,
  service,
  storesTls,
} from './store-manifests.ts';

export interface Stores {
  readonly redisPassword: string;
  /** A command that opens the database as superuser. */
  readonly psql: string;
  /** One statement as superuser; gives unaligned rows. */
  readonly query: (sql: string) => Promise<string>;
}

const names = ['postgres', 'redis', 'redis-replica'] as const;

/** Resolves when both answer. `encrypted`: they take connections with TLS alone, signed by the run's authority. */
export async function startStores(kube: Kube, encrypted = false): Promise<Stores> {
  // Redis takes a word of its command line that begins with two dashes for an option.
  const password = () => randomBytes(18).toString('hex');
  const redisPassword = password();
  await kube.apply(
    configMap('postgres-scripts', encrypted ? { '10-encrypted-only.sh': encryptedOnly } : {}),
    ...(encrypted ? [storesTls(signCertificate(runDirectory, names))] : []),
    secret('postgres-start', { postgres_password: password() }),
    secret('redis-start', {
      'users.acl': `user default on >${redisPassword} ~* &* +@all\n`,
      password: redisPassword,
    }),
    postgres(encrypted),
    service('postgres', 5432),
    ...['redis', 'redis-replica'].map((name) => redis(name, encrypted)),
    service('redis', 6379),
    service('redis-replica', 6379),
  );
  for (const name of names) await kube.kubectl('rollout', 'status', `deployment/${name}`, '--timeout=120s');
  await eventually(
    () => replication(kube, redisPassword, encrypted),
    (said) => said.includes('state=online'),
  );
  const inside = `exec --stdin deployment/postgres -- psql --username=postgres --dbname=${database} --host=/var/run/postgresql --no-psqlrc`;
  const query = (sql: string) =>
    kube.kubectl(...inside.split(' '), '--no-align', '--tuples-only', `--command=${sql}`);
  return { redisPassword, psql: `${kubectlProgram} --namespace ${kube.namespace} ${inside}`, query };
}

function replication(kube: Kube, password: string, encrypted: boolean): Promise<string> {
  const client = ['redis-cli', '--no-auth-warning', '--pass', password, ...(encrypted ? redisClientTls : [])];
  return kube.kubectl('exec', 'deployment/redis', '--', ...client, 'info', 'replication');
}
