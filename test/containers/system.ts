// The whole system by images, with the demo data and the demo partner beside it. test/setup/own-containers.ts removes it.
import { demoPartner, demoPartners, demoUsers } from '@course-exchange/local-stack/demo-accounts';
import { choosePorts } from '@course-exchange/local-stack/free-ports';
import { CourseExchange, type StartedCourseExchange } from '@course-exchange/testcontainers';
import { defaultImages, imageOf } from '@course-exchange/testcontainers/images';
import { type Environment, service } from '@course-exchange/testcontainers/product-container';
import * as stores from '@course-exchange/testcontainers/stores';
import { type ServiceName, serviceNames } from '@course-exchange/testcontainers/system';
import { RedisContainer } from '@testcontainers/redis';
import type { GenericContainer, StartedNetwork, StartedTestContainer } from 'testcontainers';
import type { StackFile } from '../support/stack-file.ts';
import type { Copy } from './handles.ts';
import { password, startPostgres } from './postgres.ts';

export interface System extends Pick<StartedCourseExchange, 'network'> {
  readonly stack: StackFile;
  readonly containers: StartedCourseExchange['containers'] &
    Readonly<Record<'demo-partner', StartedTestContainer>>;
}

type Environments = Readonly<Partial<Record<ServiceName, Environment>>>;

/** On stores of its own where none are given. */
export async function startSystem(given?: stores.Stores, environments: Environments = {}): Promise<System> {
  const own = given ?? (await startStores());
  const { partner: partnerPort } = await choosePorts(['partner']);
  const exchange = new CourseExchange().withStores(own).withEnvironment('seed', {
    DEMO_PARTNER_URL: `http://127.0.0.1:${partnerPort}`,
  });
  for (const name of serviceNames) exchange.withEnvironment(name, environments[name] ?? {});
  const { issuer, network, containers } = await exchange.start();
  const partner = await demoPartnerAt(partnerPort, issuer).start();
  const partners = demoPartners(`http://127.0.0.1:${partnerPort}`);
  const stack = { issuer, partners, users: Object.values(demoUsers) };
  return { stack, network, containers: { ...containers, 'demo-partner': partner } };
}

function demoPartnerAt(port: number, issuer: string): GenericContainer {
  const url = `http://127.0.0.1:${port}`;
  const { clientId, clientSecret } = demoPartner(url);
  return service(imageOf('demo-partner'), {
    ISSUER: issuer,
    PUBLIC_URL: url,
    HTTP_HOST: '0.0.0.0',
    HTTP_PORT: '9000',
    CLIENT_ID: clientId,
    CLIENT_SECRET: clientSecret,
    TOKEN_ENCRYPTION_KEY: stores.newSecret(),
    DATABASE_FILE: '/data/demo-partner.sqlite',
  })
    .withTmpFs({ '/data': 'uid=65532,gid=65532,mode=0700' })
    .withExposedPorts({ container: 9000, host: port });
}

interface StoreOptions {
  /** In the place of one plain server. */
  readonly postgres?: (network: StartedNetwork) => Promise<StartedTestContainer>;
  readonly redis?: (network: StartedNetwork) => Promise<StartedTestContainer>;
  /** Behind each address of Postgres: `?sslmode=…`. */
  readonly postgresQuery?: string;
  readonly redisUrl?: string;
  /** A folder of this machine that our containers have as /given. */
  readonly given?: string;
}

export async function startStores(options: StoreOptions = {}): Promise<stores.Stores> {
  const { postgresQuery = '', redisUrl = 'redis://redis:6379', given } = options;
  const network = await stores.startNetwork();
  const [postgres, redis] = await stores.settled(
    (options.postgres ?? startPostgres)(network),
    (options.redis ?? startRedis)(network),
  );
  await stores.createRoles(postgres, password);
  return {
    network,
    postgresUrl: (role, address = 'postgres:5432') =>
      `postgres://${role}:${password}@${address}/${stores.database}${postgresQuery}`,
    redisUrl,
    keyEncryptionKey: stores.newSecret(),
    containers: { postgres, redis },
    ...(given === undefined ? {} : { given }),
  };
}

interface RedisOptions {
  /** Words for the server, beside those that production asks for. */
  readonly words?: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
  /** Its data outlive the process, and can be copied: nothing waits until they are on the disk. Else they are in memory. */
  readonly onDisk?: boolean;
  readonly restore?: Copy;
}

/** A disk that is slow for a second would be an outage of Redis, rightly (R14): what a test counts is not to depend on it. */
export async function startRedis(
  network: StartedNetwork,
  { words = [], files = {}, restore, onDisk = restore !== undefined }: RedisOptions = {},
): Promise<StartedTestContainer> {
  const sync = onDisk ? ['--appendfsync', 'no'] : [];
  return new RedisContainer(defaultImages.redis)
    .withNetwork(network)
    .withNetworkAliases('redis')
    .withTmpFs(onDisk ? {} : { '/data': 'uid=999,gid=999' })
    .withCopyContentToContainer(Object.entries(files).map(([target, content]) => ({ target, content })))
    .withCopyArchivesToContainer(restore ? [{ ...restore, tar: restore.tar() }] : [])
    .withCommand([...stores.redisCommand, '--protected-mode', 'no', ...sync, ...words])
    .start();
}
