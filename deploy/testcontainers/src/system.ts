// The product on its stores: migrations, partners and users, then the three services.
import { setTimeout as sleep } from 'node:timers/promises';
import type { StartedTestContainer } from 'testcontainers';
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
  /** Settings beside and above the usual ones (docs/settings.md); `seed` fills the database (docs/install.md). */
  readonly environment?: Readonly<Partial<Record<ServiceName | 'seed', Environment>>>;
}

const gatewayPort = 8080;

export type Services = Readonly<Record<ServiceName, StartedTestContainer>>;

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

/** `issuer`: where the proxy of rehearsals listens, which passes on to the gateway. */
export async function startServices(
  issuer: string,
  stores: Stores,
  options: SystemOptions,
): Promise<Services> {
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
  const gateway = await on('gateway', {
    ISSUER: issuer,
    HTTP_PORT: String(gatewayPort),
    IDENTITY_TARGET: 'dns:///identity:7001',
    CATALOG_TARGET: 'dns:///design-catalog:7002',
  })
    .withExposedPorts(gatewayPort)
    .withWaitStrategy(answers('/livez'))
    .start();
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
  return { gateway, identity, 'design-catalog': designCatalog };
}

/** Where this machine reaches the gateway's container. */
export function originOf(gateway: StartedTestContainer): string {
  return `http://${gateway.getHost()}:${gateway.getMappedPort(gatewayPort)}`;
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
