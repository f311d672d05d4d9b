// The product on its stores: migrations, partners and users, then the three services. The gateway's container takes the
// issuer's port first, so that it is known to the others.
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GenericContainer, StartedTestContainer } from 'testcontainers';
import { type Images, imageOf } from './images.ts';
import {
  answers,
  type Ending,
  type Environment,
  healthPort,
  runToEnd,
  service,
} from './product-container.ts';
import { newSecret, type Stores, settled } from './stores.ts';

export const serviceNames = ['gateway', 'identity', 'design-catalog'] as const;
export type ServiceName = (typeof serviceNames)[number];

export interface SystemOptions {
  readonly images?: Images;
  readonly labels?: Readonly<Record<string, string>>;
  /** Settings beside and above the usual ones (docs/settings.md); `seed` fills the database (docs/images.md). */
  readonly environment?: Readonly<Partial<Record<ServiceName | 'seed', Environment>>>;
  readonly port?: number | undefined;
}

export interface System {
  readonly issuer: string;
  readonly containers: Readonly<Record<ServiceName, StartedTestContainer>>;
}

export const identityMigrations = '/app/services/identity/src/migrate.js';
export const catalogMigrations = '/app/services/design-catalog/src/migrate.js';

export function migrate(
  stores: Stores,
  program: typeof identityMigrations | typeof catalogMigrations,
  { images, labels }: SystemOptions = {},
): Promise<Ending> {
  const role = program === identityMigrations ? 'identity_migrator' : 'catalog_migrator';
  return runToEnd(imageOf('migrations', images), {
    command: [program],
    network: stores.network,
    given: stores.given,
    labels,
    environment: {
      MIGRATOR_POSTGRES_URL: stores.postgresUrl(role),
      KEY_ENCRYPTION_KEY: stores.keyEncryptionKey,
    },
  });
}

export async function fill(stores: Stores, content: object, options: SystemOptions): Promise<void> {
  const migrations = [identityMigrations, catalogMigrations] as const;
  const endings = await settled(...migrations.map((program) => migrate(stores, program, options)));
  for (const ending of endings) refuseFailure('A migration', ending);
  const seeded = await runToEnd(imageOf('migrations', options.images), {
    command: ['/app/seed.js'],
    network: stores.network,
    given: stores.given,
    labels: options.labels,
    input: JSON.stringify(content),
    environment: {
      ENVIRONMENT: 'test',
      MIGRATOR_POSTGRES_URL: stores.postgresUrl('identity_migrator'),
      SEED_PATH: '-',
      ...options.environment?.seed,
    },
  });
  refuseFailure('The load of partners and users', seeded);
}

function refuseFailure(what: string, { code, output }: Ending): void {
  if (code !== 0) throw new Error(`${what} ended with ${code}:\n${output.trim()}`);
}

export async function startServices(stores: Stores, options: SystemOptions): Promise<System> {
  const userHashKey = newSecret();
  const on = (name: ServiceName, environment: Environment) => {
    const settings = { USER_HASH_KEY: userHashKey, ...environment, ...options.environment?.[name] };
    const container = service(imageOf(name, options.images), settings)
      .withNetwork(stores.network)
      .withNetworkAliases(name)
      .withLabels({ ...options.labels });
    const source = stores.given;
    return source ? container.withBindMounts([{ source, target: '/given', mode: 'ro' }]) : container;
  };
  const { issuer, gateway } = await startGateway(await issuerHost(stores), options, (ISSUER) =>
    on('gateway', {
      ISSUER,
      HTTP_PORT: '8080',
      IDENTITY_TARGET: 'dns:///identity:7001',
      CATALOG_TARGET: 'dns:///design-catalog:7002',
    }),
  );
  // One after the other: design-catalog is ready when identity is, and would be waited for where identity ends.
  const identity = await on('identity', {
    ISSUER: issuer,
    ENVIRONMENT: 'test',
    RPC_PORT: '7001',
    POSTGRES_URL: stores.postgresUrl('identity_rw'),
    OPERATOR_POSTGRES_URL: stores.postgresUrl('identity_operator'),
    REDIS_URL: stores.redisUrl,
    KEY_ENCRYPTION_KEY: stores.keyEncryptionKey,
  }).start();
  const designCatalog = await on('design-catalog', {
    ISSUER: issuer,
    RPC_PORT: '7002',
    POSTGRES_URL: stores.postgresUrl('catalog_ro'),
    IDENTITY_TARGET: 'dns:///identity:7001',
  }).start();
  await untilReady(gateway);
  return { issuer, containers: { gateway, identity, 'design-catalog': designCatalog } };
}

/** Loopback where ports are published there: clients take plain http from no other address. */
async function issuerHost({ containers: { redis } }: Stores): Promise<string> {
  const socket = connect(redis.getMappedPort(6379), '127.0.0.1');
  const reached = await once(socket, 'connect').catch(() => undefined);
  socket.destroy();
  return reached ? '127.0.0.1' : redis.getHost();
}

/** Alive, not yet ready. A free port may be gone before Docker takes it: then another. */
async function startGateway(
  host: string,
  { port: wanted }: SystemOptions,
  containerFor: (issuer: string) => GenericContainer,
): Promise<{ readonly issuer: string; readonly gateway: StartedTestContainer }> {
  for (let tries = 1; ; tries += 1) {
    const port = wanted ?? (await freePort());
    const issuer = `http://${host}:${port}`;
    const container = containerFor(issuer)
      .withExposedPorts({ container: 8080, host: port })
      .withWaitStrategy(answers('/livez'));
    try {
      return { issuer, gateway: await container.start() };
    } catch (error) {
      if (!/port is already allocated|address already in use/i.test(String(error))) throw error;
      if (wanted === undefined && tries < 5) continue;
      throw new Error(
        `Port ${port} is in use: end what listens there, or name no port and get one that is free.`,
        {
          cause: error,
        },
      );
    }
  }
}

async function untilReady(container: StartedTestContainer): Promise<void> {
  const url = `http://${container.getHost()}:${container.getMappedPort(healthPort)}/healthz`;
  for (let tries = 1; ; tries += 1, await sleep(100)) {
    const answer = await fetch(url).then(
      async (response) => (response.ok ? undefined : response.text()),
      (error: unknown) => String(error),
    );
    if (answer === undefined) return;
    if (tries === 300) throw new Error(`The gateway does not become ready: ${answer}`);
  }
}

/** Free just now, and below the range of outgoing connections. */
export async function freePort(): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    const port = randomInt(20_000, 30_000);
    const server = createServer();
    const free = await once(server.listen(port), 'listening').then(
      () => true,
      () => false,
    );
    if (free) await new Promise((closed) => server.close(closed));
    if (free) return port;
    if (tries === 100) throw new Error('No port from 20000 to 29999 is free.');
  }
}
