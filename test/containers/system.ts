// The whole system by images: migrations, demo data, identity, design-catalog, gateway, demo partner.
import { randomBytes } from 'node:crypto';
import type { StartedTestContainer } from 'testcontainers';
import { demoPartnerAt } from './demo-partner.ts';
import { freePort } from './free-port.ts';
import { type Pair, pairs } from './pairs.ts';
import { type Ending, type Environment, runToEnd, service } from './product-container.ts';
import type { ServiceName } from './settings.ts';
import type { Stores } from './stores.ts';

export interface System {
  readonly issuer: string;
  readonly containers: Readonly<Record<ServiceName, StartedTestContainer>>;
  readonly close: () => Promise<void>;
}

export const identityMigrations = '/app/services/identity/src/migrate.js';
export const catalogMigrations = '/app/services/design-catalog/src/migrate.js';

export function migrate(
  stores: Stores,
  program: typeof identityMigrations | typeof catalogMigrations,
): Promise<Ending> {
  const role = program === identityMigrations ? 'identity_migrator' : 'catalog_migrator';
  return runToEnd('migrations', {
    command: [program],
    network: stores.network,
    given: stores.given,
    environment: {
      MIGRATOR_POSTGRES_URL: stores.postgresUrl(role),
      KEY_ENCRYPTION_KEY: stores.keyEncryptionKey,
    },
  });
}

export function seed(
  stores: Stores,
  environment: 'production' | 'test',
  partnerUrl: string,
): Promise<Ending> {
  return runToEnd('migrations', {
    command: ['/app/seed.js'],
    network: stores.network,
    given: stores.given,
    environment: {
      ENVIRONMENT: environment,
      MIGRATOR_POSTGRES_URL: stores.postgresUrl('identity_migrator'),
      DEMO_PARTNER_URL: partnerUrl,
    },
  });
}

export interface SystemOptions {
  /** Where a caller finds the callee instead: a proxy between the two. */
  readonly addresses?: Readonly<Partial<Record<Pair, string>>>;
  /** Beside and above the usual settings. */
  readonly environment?: Readonly<Partial<Record<ServiceName, Environment>>>;
}

/** Fills the stores and starts everything on them; the issuer is a port of this machine. */
export async function startSystem(stores: Stores, options: SystemOptions = {}): Promise<System> {
  const [port, partnerPort] = [await freePort(), await freePort()];
  await fill(stores, `http://127.0.0.1:${partnerPort}`);
  return startServices(stores, options, port, partnerPort);
}

async function fill(stores: Stores, partnerUrl: string): Promise<void> {
  for (const ending of [
    await migrate(stores, identityMigrations),
    await migrate(stores, catalogMigrations),
    await seed(stores, 'test', partnerUrl),
  ]) {
    if (ending.code !== 0) throw new Error(`A job ended with ${ending.code}: ${ending.output}`);
  }
}

async function startServices(
  stores: Stores,
  options: SystemOptions,
  port: number,
  partnerPort: number,
): Promise<System> {
  const issuer = `http://127.0.0.1:${port}`;
  const userHashKey = randomBytes(32).toString('base64url');
  const address = (pair: Pair) => options.addresses?.[pair] ?? pairs[pair];
  const on = (name: ServiceName, environment: Environment) => {
    const given = { ISSUER: issuer, USER_HASH_KEY: userHashKey, ...environment };
    const container = service(name, { ...given, ...options.environment?.[name] })
      .withNetwork(stores.network)
      .withNetworkAliases(name);
    const source = stores.given;
    return source ? container.withBindMounts([{ source, target: '/given', mode: 'ro' }]) : container;
  };
  const identity = await on('identity', {
    ENVIRONMENT: 'test',
    RPC_PORT: '7001',
    POSTGRES_URL: stores.postgresUrl('identity_rw', address('identity–Postgres')),
    OPERATOR_POSTGRES_URL: stores.postgresUrl('identity_operator', address('identity–Postgres')),
    REDIS_URL: stores.redisUrl(address('identity–Redis')),
    KEY_ENCRYPTION_KEY: stores.keyEncryptionKey,
  }).start();
  const designCatalog = await on('design-catalog', {
    RPC_PORT: '7002',
    POSTGRES_URL: stores.postgresUrl('catalog_ro', address('catalog–Postgres')),
    IDENTITY_TARGET: `dns:///${address('catalog–identity')}`,
  }).start();
  const gateway = await on('gateway', {
    HTTP_PORT: '8080',
    IDENTITY_TARGET: `dns:///${address('gateway–identity')}`,
    CATALOG_TARGET: `dns:///${address('gateway–catalog')}`,
  })
    .withExposedPorts({ container: 8080, host: port })
    .start();
  const demoPartner = await demoPartnerAt(partnerPort, issuer).start();
  const containers = { identity, 'design-catalog': designCatalog, gateway, 'demo-partner': demoPartner };
  return {
    issuer,
    containers,
    close: async () => {
      await Promise.all(Object.values(containers).map((container) => container.stop()));
    },
  };
}
