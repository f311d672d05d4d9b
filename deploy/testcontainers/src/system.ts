// The product on its stores: migrations, partners and users, then the three services.
import type { StartedTestContainer } from 'testcontainers';
import { type Images, imageOf } from './images.ts';
import { type Environment, type JobOptions, runToEnd, service } from './product-container.ts';
import { newSecret, type Role, type Stores, settled } from './stores.ts';

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
const catalogMigrations = '/app/services/design-catalog/src/migrate.js';

export async function fill(
  stores: Stores,
  content: object,
  { images, labels, environment }: SystemOptions,
): Promise<void> {
  const { network, given, postgresUrl, keyEncryptionKey } = stores;
  const run = async (what: string, job: JobOptions) => {
    const ending = await runToEnd(imageOf('migrations', images), { ...job, network, given, labels });
    if (ending.code !== 0) throw new Error(`${what} ended with ${ending.code}:\n${ending.output.trim()}`);
  };
  const migrate = (program: string, role: Role) =>
    run('A migration', {
      command: [program],
      environment: { MIGRATOR_POSTGRES_URL: postgresUrl(role), KEY_ENCRYPTION_KEY: keyEncryptionKey },
    });
  await settled(
    migrate(identityMigrations, 'identity_migrator'),
    migrate(catalogMigrations, 'catalog_migrator'),
  );
  await run('The load of partners and users', {
    command: ['/app/seed.js'],
    input: JSON.stringify(content),
    environment: {
      ENVIRONMENT: 'test',
      MIGRATOR_POSTGRES_URL: postgresUrl('identity_migrator'),
      SEED_PATH: '-',
      ...environment?.seed,
    },
  });
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
  // One after the other: each is ready when those that it calls are, and would be waited for where one of them ends.
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
  const gateway = await on('gateway', {
    ISSUER: issuer,
    HTTP_PORT: String(gatewayPort),
    IDENTITY_TARGET: 'dns:///identity:7001',
    CATALOG_TARGET: 'dns:///design-catalog:7002',
  })
    .withExposedPorts(gatewayPort)
    .start();
  return { gateway, identity, 'design-catalog': designCatalog };
}

/** The origin at which this machine reaches the gateway's container. */
export function originOf(gateway: StartedTestContainer): string {
  return `http://${gateway.getHost()}:${gateway.getMappedPort(gatewayPort)}`;
}
