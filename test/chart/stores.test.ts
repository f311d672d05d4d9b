// How the values of the stores reach the programs, and which ports the NetworkPolicies open to them.
import { expect, test } from 'vitest';
import { containersOf, ofKind, podsOf } from './objects.ts';
import { helm, type KubernetesObject, objectsOf, type Values } from './render.ts';
import { filesOf, objectsOfSet } from './value-sets.ts';

const withHelm = test.skipIf(helm === '');
const urlSetting = /POSTGRES_URL(_FILE)?$/;

function postgresUrls(objects: readonly KubernetesObject[]): readonly string[] {
  const containers = podsOf(objects).flatMap(containersOf);
  const variables: KubernetesObject[] = containers.flatMap(({ env = [] }) => env);
  return variables.filter(({ name }) => urlSetting.test(name)).map(({ name, value }) => `${name}=${value}`);
}

withHelm.each(['production-hosts', 'production-operators-values'])(
  '%s: every URL of Postgres demands its certificate',
  async (set) => {
    const urls = postgresUrls(await objectsOfSet(set));
    expect(urls.length).toBeGreaterThan(5);
    expect(
      urls.filter((url) => !/^\w+_URL=postgres:.*\?sslmode=verify-full&sslrootcert=\//.test(url)),
    ).toEqual([]);
  },
);

withHelm('with a host for reads, design-catalog reads there', async () => {
  const urls = postgresUrls(await objectsOfSet('production-operators-values'));
  expect(urls.some((url) => url.startsWith('POSTGRES_URL=postgres://exchange-ro.stores:'))).toBe(true);
});

withHelm('without a host of Postgres, its URLs come from files alone', async () => {
  const urls = postgresUrls(await objectsOfSet('test-uris-values'));
  expect(urls.length).toBeGreaterThan(5);
  expect(urls.filter((url) => !url.includes('_FILE=/run/course-exchange/secrets/'))).toEqual([]);
});

withHelm.each([
  ['test-hosts', ['REDIS_MIN_REPLICAS=0', 'REDIS_URL=redis://redis:6379/0']],
  ['production-hosts', ['REDIS_MIN_REPLICAS=1', 'REDIS_URL=rediss://redis.stores.svc.cluster.local:6379/0']],
  [
    'production-operators-values',
    [
      'REDIS_CLUSTER=true',
      'REDIS_MIN_REPLICAS=1',
      'REDIS_URL=rediss://redis-0.redis:6379,redis-1.redis:6379/0',
    ],
  ],
  [
    'test-everything-values',
    [
      'REDIS_MIN_REPLICAS=1',
      'REDIS_SENTINEL_MASTER=exchange',
      'REDIS_URL=rediss://sentinel-0:26379,sentinel-1:26379,sentinel-2:26379/2',
    ],
  ],
])('%s: identity and its migration reach Redis as the values say', async (set, expected) => {
  const readers = podsOf(await objectsOfSet(set))
    .flatMap(containersOf)
    .map(({ env = [] }) => env.filter(({ name }: KubernetesObject) => name.startsWith('REDIS_')))
    .filter((variables) => variables.length > 0);
  expect(readers).toHaveLength(3);
  for (const variables of readers) {
    const inFiles = (one: KubernetesObject) => one.name.endsWith('_FILE');
    const plain = variables.filter((one: KubernetesObject) => !inFiles(one));
    expect(plain.map(({ name, value }: KubernetesObject) => `${name}=${value}`).sort()).toEqual(expected);
  }
});

const sentinel = { mode: 'sentinel', sentinel: { masterName: 'exchange', serverPort: 6380 } };

withHelm.each<[string, Values, readonly number[]]>([
  ['a name without port', { hosts: ['redis'] }, [6379]],
  ['a name with digits at its end', { hosts: ['redis-7'] }, [6379]],
  ['an address without port', { hosts: ['10.20.30.40'] }, [6379]],
  ['an address of IPv6 without port', { hosts: ['[fd00::7]'] }, [6379]],
  ['an address with port', { hosts: ['10.20.30.40:6390'] }, [6390]],
  ['Sentinels without port', { ...sentinel, hosts: ['sentinel-0', 'sentinel-1'] }, [26379, 6380]],
  ['Sentinels with port', { ...sentinel, hosts: ['sentinel-0:26380'] }, [26380, 6380]],
])('%s: identity may reach Redis there', async (_, redis, expected) => {
  const objects = await objectsOf({ files: filesOf('test-minimal-values'), values: { redis } });
  const policy = ofKind(objects, 'NetworkPolicy').find(({ metadata }) => metadata.name.endsWith('-identity'));
  const opened: number[][] = policy?.spec.egress.map(({ ports }: KubernetesObject) =>
    ports.map(({ port }: KubernetesObject) => port),
  );
  expect(opened).toContainEqual(expected);
});
