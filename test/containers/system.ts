// The whole system by images, with the demo data and the demo partner beside it, on a Postgres and a Redis; and what is done to
// containers behind their backs: ended, cut off, copied from, removed. test/setup/own-containers.ts removes all of them.
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { demoPartner, demoPartners, demoUsers } from '@course-exchange/local-stack/demo-accounts';
import { choosePorts } from '@course-exchange/local-stack/free-ports';
import { CourseExchange } from '@course-exchange/testcontainers';
import { defaultImages, imageOf } from '@course-exchange/testcontainers/images';
import { type Environment, service } from '@course-exchange/testcontainers/product-container';
import * as stores from '@course-exchange/testcontainers/stores';
import { type ServiceName, serviceNames } from '@course-exchange/testcontainers/system';
import { RedisContainer } from '@testcontainers/redis';
import {
  type GenericContainer,
  getContainerRuntimeClient,
  type StartedNetwork,
  type StartedTestContainer,
} from 'testcontainers';
import type { StackFile } from '../support/stack-file.ts';

export type System = Awaited<ReturnType<typeof startSystem>>;

export async function startSystem(
  on: stores.Stores,
  environments: Readonly<Partial<Record<ServiceName, Environment>>> = {},
) {
  const { partner: partnerPort } = await choosePorts(['partner']);
  const exchange = new CourseExchange().withStores(on).withEnvironment('seed', {
    DEMO_PARTNER_URL: `http://127.0.0.1:${partnerPort}`,
  });
  for (const name of serviceNames) exchange.withEnvironment(name, environments[name] ?? {});
  const { issuer, network, containers } = await exchange.start();
  const partner = await demoPartnerAt(partnerPort, issuer).start();
  const partners = demoPartners(`http://127.0.0.1:${partnerPort}`);
  const stack: StackFile = { issuer, partners, users: Object.values(demoUsers) };
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
  readonly postgres: (network: StartedNetwork) => Promise<StartedTestContainer>;
  readonly redis: (network: StartedNetwork) => Promise<StartedTestContainer>;
  /** Behind each address of Postgres: `?sslmode=…`. */
  readonly postgresQuery?: string;
  readonly redisUrl?: string;
  /** A folder of this machine that our containers have as /given. */
  readonly given?: string;
}

export async function startStores({
  postgresQuery = '',
  redisUrl = 'redis://redis:6379',
  ...options
}: StoreOptions): Promise<stores.Stores> {
  const network = await stores.startNetwork();
  const [postgres, redis] = await stores.settled(options.postgres(network), options.redis(network));
  await stores.createRoles(postgres, password);
  return {
    network,
    postgresUrl: (role, address = 'postgres:5432') =>
      `postgres://${role}:${password}@${address}/${stores.database}${postgresQuery}`,
    redisUrl,
    keyEncryptionKey: stores.newSecret(),
    containers: { postgres, redis },
    ...(options.given === undefined ? {} : { given: options.given }),
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

/** A disk that is slow for a second would be an outage of Redis, rightly (R14.1): what a test counts is not to depend on it. */
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

export const password = 'test-containers';
/** The same in every image, whatever its version: beside its own. */
export const dataDirectory = '/var/lib/postgresql/cluster';

interface PostgresOptions {
  readonly name?: string;
  readonly parameters?: readonly string[];
  /** Shell that the first start runs in the data directory, before clients can connect. */
  readonly firstStart?: string;
  /** Files from elsewhere, and shell that makes the data directory of them, where they are not it, before the server starts. */
  readonly restore?: { readonly copy: Copy; readonly commands?: string };
}

export async function startPostgres(
  network: StartedNetwork,
  { name = 'postgres', parameters = [], firstStart, restore }: PostgresOptions = {},
): Promise<StartedTestContainer> {
  // It waits for no disk: what a test counts is not to depend on one, and only processes end here, never the machine.
  const settings = ['fsync=off', ...parameters];
  const server = ['postgres', ...settings.flatMap((setting) => ['-c', setting])];
  const restored = `${restore?.commands ?? ''}\nexec bash /usr/local/bin/docker-entrypoint.sh "$@"`;
  const target = '/docker-entrypoint-initdb.d/first-start.sh';
  const content = `set -eu\ncd "$PGDATA"\n${firstStart}\n`;
  return stores
    .postgresContainer(network, password, { name })
    .withEnvironment({ PGDATA: dataDirectory })
    .withCommand(restore ? ['sh', '-euc', restored, 'sh', ...server] : server)
    .withCopyArchivesToContainer(restore ? [{ ...restore.copy, tar: restore.copy.tar() }] : [])
    .withCopyContentToContainer(firstStart === undefined ? [] : [{ content, target, mode: 0o755 }])
    .start();
}

export async function query(postgres: StartedTestContainer, sql: string): Promise<readonly string[]> {
  const words = `psql --no-psqlrc --no-align --tuples-only --username=postgres --dbname=${stores.database}`;
  const { exitCode, output, stdout } = await postgres.exec([...words.split(' '), `--command=${sql}`]);
  if (exitCode !== 0) throw new Error(`${sql}: ${output}`);
  return stdout.split('\n').filter((line) => line !== '');
}

/** A folder of a container, with its path, as tar. */
export type Copy = Awaited<ReturnType<typeof copyFolder>>;

const dockerode = async () => (await getContainerRuntimeClient()).container.dockerode;
export const handleOf = async (container: StartedTestContainer) =>
  (await dockerode()).getContainer(container.getId());
export const handleOfNetwork = async (network: StartedNetwork) =>
  (await dockerode()).getNetwork(network.getId());

/** What survives the container. */
export async function copyFolder(container: StartedTestContainer, path: string) {
  const content = await buffer(await (await handleOf(container)).getArchive({ path }));
  return { tar: () => Readable.from([content]), target: path.replace(/\/[^/]+$/, '') || '/' };
}

export async function destroy(container: StartedTestContainer): Promise<void> {
  await (await handleOf(container)).remove({ force: true, v: true });
}

export async function end(
  container: StartedTestContainer,
  signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL',
): Promise<{ readonly StatusCode: number }> {
  const handle = await handleOf(container);
  const ended = handle.wait() as Promise<{ readonly StatusCode: number }>;
  await handle.kill({ signal });
  return ended;
}

export async function join(
  network: StartedNetwork,
  container: StartedTestContainer,
  name: string,
): Promise<void> {
  const EndpointConfig = { Aliases: [name] };
  await (await handleOfNetwork(network)).connect({ Container: container.getId(), EndpointConfig });
}
