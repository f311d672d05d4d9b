// Postgres and Redis on a private network, by the official modules: the roles made, the database empty else.
import { randomBytes, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { PostgreSqlContainer } from '@testcontainers/postgresql';
import { RedisContainer } from '@testcontainers/redis';
import {
  getContainerRuntimeClient,
  getReaper,
  Network,
  type StartedNetwork,
  type StartedTestContainer,
  Wait,
} from 'testcontainers';
import { defaultImages, type Images, imageOf } from './images.ts';

export type Role =
  | 'identity_migrator'
  | 'catalog_migrator'
  | 'identity_rw'
  | 'identity_operator'
  | 'catalog_ro';
type Labels = Readonly<Record<string, string>>;

export interface Stores {
  readonly network: StartedNetwork;
  /** A container of the network uses it, at `address` or at Postgres itself. */
  readonly postgresUrl: (role: Role, address?: string) => string;
  readonly redisUrl: string;
  readonly keyEncryptionKey: string;
  readonly containers: Readonly<Record<'postgres' | 'redis', StartedTestContainer>>;
  /** A folder of this machine that the services have as /given. */
  readonly given?: string;
}

export const database = 'course_exchange';
const rolesInImage = '/app/deploy/postgres/roles.sql';
/** What identity counts on in production too. */
export const redisCommand = [
  'redis-server',
  ...'--appendonly yes --appendfsync always --maxmemory-policy noeviction --maxmemory 256mb'.split(' '),
];

export const newSecret = () => randomBytes(32).toString('base64url');

/** Waits for all, also where one fails: only then what is half started can be removed. */
export async function settled<T extends readonly Promise<unknown>[]>(...started: T) {
  await Promise.allSettled(started);
  return Promise.all(started);
}

export function postgresContainer(
  network: StartedNetwork,
  password: string,
  { image = defaultImages.postgres, name = 'postgres' } = {},
): PostgreSqlContainer {
  return (
    new PostgreSqlContainer(image)
      .withDatabase(database)
      .withUsername('postgres')
      .withPassword(password)
      .withNetwork(network)
      .withNetworkAliases(name)
      // The module's own runs four times a second for as long as the server does. Over TCP: the server that makes the
      // database does not listen there.
      .withHealthCheck({ test: ['CMD', 'true'], interval: 3_600_000 })
      .withWaitStrategy(Wait.forSuccessfulCommand('pg_isready --quiet --host=127.0.0.1'))
  );
}

/** The caller removes the network. Labels are for finding what was started, whatever happens. */
export async function startStores(network: StartedNetwork, images: Images, labels: Labels): Promise<Stores> {
  const [password, redisPassword] = [newSecret(), newSecret()];
  const [postgres, redis] = await settled(
    postgresContainer(network, password, { image: images.postgres })
      .withLabels({ ...labels })
      .start(),
    new RedisContainer(images.redis)
      .withPassword(redisPassword)
      .withCommand(redisCommand)
      .withNetwork(network)
      .withNetworkAliases('redis')
      .withLabels({ ...labels })
      .start(),
  );
  await createRoles(postgres, password, images, labels);
  return {
    network,
    postgresUrl: (role, address = 'postgres:5432') => `postgres://${role}:${password}@${address}/${database}`,
    redisUrl: `redis://:${redisPassword}@redis:6379`,
    keyEncryptionKey: newSecret(),
    containers: { postgres, redis },
  };
}

/** The statements come from the image, so that they are those of its migrations. */
export async function createRoles(
  postgres: StartedTestContainer,
  password: string,
  images: Images = defaultImages,
  labels: Labels = {},
): Promise<void> {
  const { dockerode } = (await getContainerRuntimeClient()).container;
  const image = await dockerode.createContainer({ Image: imageOf('migrations', images), Labels: labels });
  try {
    const archive = await image.getArchive({ path: rolesInImage });
    await postgres.copyArchiveToContainer(new Readable().wrap(archive), '/tmp');
  } finally {
    await image.remove();
  }
  const passwords = `do $$ declare role name; begin
    for role in select rolname from pg_roles where rolcanlogin and rolname <> current_user loop
      execute format('alter role %I password %L', role, '${password}');
    end loop; end $$`;
  const { exitCode, output } = await postgres.exec([
    ...'psql --quiet --no-psqlrc --set=ON_ERROR_STOP=1 --username=postgres'.split(' '),
    `--dbname=${database}`,
    '--file=/tmp/roles.sql',
    `--command=${passwords}`,
  ]);
  if (exitCode !== 0) throw new Error(`Postgres refuses the product's roles: ${output}`);
}

/** Named so that it is found where nothing removed it. */
export async function startNetwork(): Promise<StartedNetwork> {
  await requireCleaner();
  return new Network({ nextUuid: () => `course-exchange-testcontainers-${randomUUID()}` }).start();
}

/** testcontainers' cleaner Ryuk is an image more, which it starts before anything else. */
async function requireCleaner(): Promise<void> {
  try {
    await getReaper(await getContainerRuntimeClient());
  } catch (error) {
    if (process.env.TESTCONTAINERS_RYUK_DISABLED === 'true') throw error;
    throw new Error(
      `testcontainers cannot start its cleaner, Ryuk (${error instanceof Error ? error.message : error}): ` +
        'load its image, or set TESTCONTAINERS_RYUK_DISABLED=true. stop() cleans up without it.',
      { cause: error },
    );
  }
}

/** By label: whatever was started is found, however far it came. */
export async function removeAll(labels: Labels, network?: StartedNetwork): Promise<void> {
  const { dockerode } = (await getContainerRuntimeClient()).container;
  const label = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  const found = await dockerode.listContainers({ all: true, filters: { label } });
  await Promise.all(found.map(({ Id }) => dockerode.getContainer(Id).remove({ force: true, v: true })));
  if (!network) return;
  const handle = dockerode.getNetwork(network.getId());
  const { Containers: joined = {} } = await handle.inspect();
  // The caller's own, any of which may end meanwhile; one that stays makes the removal fail, and that says why.
  await Promise.allSettled(
    Object.keys(joined).map((Container) => handle.disconnect({ Container, Force: true })),
  );
  await network.stop();
}
