// Postgres, and Redis with a replica, as an operator brings them: empty; and the certificates of them and of operators.
import { randomBytes } from 'node:crypto';
import { expect, vi } from 'vitest';
import { createAuthority } from '../rpc/certificate-authority.ts';
import { type Kube, kubectlProgram, postgresImage, redisImage, waiting } from './kube.ts';
import { startProgram } from './pods.ts';

export type Stores = Awaited<ReturnType<typeof startStores>>;

export const database = 'course_exchange';

const made = await createAuthority();

/** A key of the Secrets with the authorities that a client trusts. */
export const authority = { 'ca.crt': made.certificate };

/** Keys of a Secret: a certificate for client and server use, for this subject and names; a new key at every call. */
export async function signCertificate(subject: string, ...names: readonly string[]) {
  const { certificate, key } = await made.issue(names, subject);
  return { 'tls.crt': certificate, 'tls.key': key, ...authority };
}

const tls = '/etc/program/tls.crt /etc/program/tls.key /etc/program/ca.crt'.split(' ');
const postgresTls = ['ssl=on', `ssl_cert_file=${tls[0]}`, `ssl_key_file=${tls[1]}`];
const redisTls = [
  ...'--port 0 --tls-port 6379 --tls-auth-clients no --tls-replication yes'.split(' '),
  ...`--tls-cert-file ${tls[0]} --tls-key-file ${tls[1]} --tls-ca-cert-file ${tls[2]}`.split(' '),
];
// A replica is filled at once, and a write that no replica would have is refused before it is done.
const durable =
  '--repl-diskless-sync-delay 0 --min-replicas-to-write 1 --appendonly yes --appendfsync always ' +
  '--maxmemory-policy noeviction --maxmemory 256mb';

/** Resolves when both answer. `encrypted`: they speak TLS, with certificates that the run's authority signed. */
export async function startStores(kube: Kube, encrypted: boolean) {
  // Redis takes a word of its command line that begins with two dashes for an option.
  const [POSTGRES_PASSWORD, redisPassword] = [18, 18].map((size) => randomBytes(size).toString('hex'));
  const files = encrypted ? await signCertificate('CN=stores', 'postgres', 'redis', 'redis-replica') : {};
  const startRedis = (name: string, ...more: readonly string[]) =>
    startProgram(kube, name, {
      image: redisImage,
      args: [
        ...['redis-server', '--aclfile', '/etc/program/users.acl', '--save', '', ...durable.split(' ')],
        ...(encrypted ? redisTls : []),
        ...more,
      ],
      files: { ...files, 'users.acl': `user default on >${redisPassword} ~* &* +@all\n` },
      port: 6379,
      user: 999,
      folders: ['/data'],
    });
  await Promise.all([
    startProgram(kube, 'postgres', {
      image: postgresImage,
      args: ['postgres', ...(encrypted ? postgresTls : []).flatMap((parameter) => ['-c', parameter])],
      env: { POSTGRES_DB: database, POSTGRES_PASSWORD: `${POSTGRES_PASSWORD}` },
      files,
      port: 5432,
      user: 999,
      folders: ['/var/lib/postgresql', '/var/run/postgresql'],
    }),
    startRedis('redis'),
    startRedis('redis-replica', '--replicaof', 'redis 6379', '--masterauth', `${redisPassword}`),
  ]);
  const client = `redis-cli --no-auth-warning ${encrypted ? '--tls --insecure' : ''} --pass ${redisPassword}`;
  const asked = ['exec', 'redis', '--', ...client.split(/ +/), 'info', 'replication'];
  await vi.waitFor(async () => expect(await kube.kubectl(...asked)).toContain('state=online'), waiting);
  const inside = `exec --stdin postgres -- psql --username=postgres --dbname=${database} --host=/var/run/postgresql --no-psqlrc`;
  return {
    redisPassword: `${redisPassword}`,
    psql: `${kubectlProgram} --namespace ${kube.namespace} ${inside}`,
    query: (sql: string) =>
      kube.kubectl(...inside.split(' '), '--no-align', '--tuples-only', `--command=${sql}`),
  };
}
