// The whole system by images: migrations, demo data, identity, design-catalog, gateway, demo partner.
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { demoPartners } from '@course-exchange/local-stack/demo-partners';
import type { StartedTestContainer } from 'testcontainers';
import { type Ending, runToEnd, service } from './product-container.ts';
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
    environment: {
      ENVIRONMENT: environment,
      MIGRATOR_POSTGRES_URL: stores.postgresUrl('identity_migrator'),
      DEMO_PARTNER_URL: partnerUrl,
    },
  });
}

/** Starts everything on `stores`; the issuer is a port of this machine. */
export async function startSystem(stores: Stores): Promise<System> {
  const [port, partnerPort] = [await freePort(), await freePort()];
  const issuer = `http://127.0.0.1:${port}`;
  const partnerUrl = `http://127.0.0.1:${partnerPort}`;
  for (const ending of [
    await migrate(stores, identityMigrations),
    await migrate(stores, catalogMigrations),
    await seed(stores, 'test', partnerUrl),
  ]) {
    if (ending.code !== 0) throw new Error(`A job ended with ${ending.code}: ${ending.output}`);
  }
  const userHashKey = secret();
  const on = (name: ServiceName, environment: Record<string, string>) =>
    service(name, { ISSUER: issuer, USER_HASH_KEY: userHashKey, ...environment })
      .withNetwork(stores.network)
      .withNetworkAliases(name);
  const identity = await on('identity', {
    ENVIRONMENT: 'test',
    RPC_PORT: '7001',
    POSTGRES_URL: stores.postgresUrl('identity_rw'),
    OPERATOR_POSTGRES_URL: stores.postgresUrl('identity_operator'),
    REDIS_URL: stores.redisUrl,
    KEY_ENCRYPTION_KEY: stores.keyEncryptionKey,
  }).start();
  const designCatalog = await on('design-catalog', {
    RPC_PORT: '7002',
    POSTGRES_URL: stores.postgresUrl('catalog_ro'),
    IDENTITY_TARGET: 'dns:///identity:7001',
  }).start();
  const gateway = await on('gateway', {
    HTTP_PORT: '8080',
    IDENTITY_TARGET: 'dns:///identity:7001',
    CATALOG_TARGET: 'dns:///design-catalog:7002',
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

function demoPartnerAt(port: number, issuer: string): ReturnType<typeof service> {
  const url = `http://127.0.0.1:${port}`;
  const partner = demoPartners(url)[0];
  return service('demo-partner', {
    ISSUER: issuer,
    PUBLIC_URL: url,
    HTTP_HOST: '0.0.0.0',
    HTTP_PORT: '9000',
    CLIENT_ID: partner?.clientId ?? '',
    CLIENT_SECRET: partner?.clientSecret ?? '',
    TOKEN_ENCRYPTION_KEY: secret(),
    DATABASE_FILE: '/data/demo-partner.sqlite',
  })
    .withTmpFs({ '/data': 'uid=65532,gid=65532,mode=0700' })
    .withExposedPorts({ container: 9000, host: port });
}

function secret(): string {
  return randomBytes(32).toString('base64url');
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
