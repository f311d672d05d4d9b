// Stores that take encrypted connections alone: Postgres by its pg_hba.conf, Redis by having no other port, and by an ACL
// that leaves the default user out. One authority signed both certificates; a second one is a stranger to them.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GenericContainer, type StartedNetwork, Wait } from 'testcontainers';
import { createAuthority, type Issued } from '../rpc/certificate-authority.ts';
import { startPostgres } from './postgres.ts';
import type { RedisContainer } from './redis.ts';
import { redisImage } from './settings.ts';
import { type Stores, startStores } from './stores.ts';

export interface TlsStores extends Stores {
  /** PEM. */
  readonly authority: string;
  readonly stranger: string;
}

const folderInside = '/given';
export const redisAccount = { user: 'identity', password: 'test-redis-password' };
export const verified = `?sslmode=verify-full&sslrootcert=${folderInside}/ca.crt`;
/** Names the authority that signed nothing. */
export const misled = `?sslmode=verify-full&sslrootcert=${folderInside}/stranger.crt`;

export async function startTlsStores(): Promise<TlsStores> {
  const ours = await createAuthority('Stores');
  const stranger = (await createAuthority('Stranger')).certificate;
  const forPostgres = await ours.issue(['postgres', 'localhost']);
  const forRedis = await ours.issue(['redis']);
  const folder = mkdtempSync(join(tmpdir(), 'course-exchange-tls-'));
  // The account of the images reads it.
  chmodSync(folder, 0o755);
  writeFileSync(join(folder, 'ca.crt'), ours.certificate);
  writeFileSync(join(folder, 'stranger.crt'), stranger);
  const stores = await startStores({
    postgres: (network) =>
      startPostgres(network, {
        firstStart: encryptedOnly(forPostgres),
        ssl: { ca: ours.certificate, servername: 'postgres' },
      }),
    redis: (network) => startTlsRedis(network, forRedis, ours.certificate),
    tls: {
      folder,
      postgresQuery: verified,
      redisPrefix: `rediss://${redisAccount.user}:${redisAccount.password}@`,
    },
  });
  return {
    ...stores,
    authority: ours.certificate,
    stranger,
    close: async () => {
      await stores.close();
      rmSync(folder, { recursive: true });
    },
  };
}

function encryptedOnly({ certificate, key }: Issued): string {
  return [
    `cat > server.crt <<'PEM'\n${certificate}PEM`,
    `cat > server.key <<'PEM'\n${key}PEM`,
    'chmod 600 server.key',
    "echo 'ssl = on' >> postgresql.conf",
    "printf '%s\\n' 'local all all trust' 'hostssl all all all scram-sha-256' > pg_hba.conf",
  ].join('\n');
}

async function startTlsRedis(
  network: StartedNetwork,
  { certificate, key }: Issued,
  authority: string,
): Promise<RedisContainer> {
  const durable = ['--appendonly', 'yes', '--appendfsync', 'always', '--maxmemory-policy', 'noeviction'];
  const encrypted = ['--port', '0', '--tls-port', '6379', '--tls-auth-clients', 'no'];
  const files = [
    '--tls-cert-file',
    '/tls/tls.crt',
    '--tls-key-file',
    '/tls/tls.key',
    '--tls-ca-cert-file',
    '/tls/ca.crt',
  ];
  const users = [
    '--user',
    'default',
    'off',
    '--user',
    redisAccount.user,
    'on',
    `>${redisAccount.password}`,
    '~*',
    '+@all',
  ];
  const container = await new GenericContainer(redisImage)
    .withNetwork(network)
    .withNetworkAliases('redis')
    .withCopyContentToContainer([
      { content: certificate, target: '/tls/tls.crt' },
      { content: key, target: '/tls/tls.key' },
      { content: authority, target: '/tls/ca.crt' },
    ])
    .withCommand(['redis-server', ...durable, ...encrypted, ...files, ...users])
    .withWaitStrategy(Wait.forLogMessage(/Ready to accept connections/))
    .start();
  return {
    container,
    close: async () => {
      await container.stop();
    },
  };
}
