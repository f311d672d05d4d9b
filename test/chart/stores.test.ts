// How the values of the stores reach the programs, and which ports the NetworkPolicies open to them.
import { expect, test } from 'vitest';
import { containersOf, ofKind, podsOf } from './objects.ts';
import type { KubernetesObject, Values } from './render.ts';
import { renderAll, renderSets } from './rendered.ts';

const sets = new Map((await renderSets()).map(({ set, objects }) => [set, objects]));

/** `NAME=value` of each container's settings of that kind; none for a container without. */
function settingsOf(set: string, kind: RegExp): readonly (readonly string[])[] {
  const environments = containersOf(podsOf(sets.get(set) ?? [])).map(({ env }) =>
    env
      .filter(({ name }: KubernetesObject) => kind.test(name))
      .map(({ name, value }: KubernetesObject) => `${name}=${value}`)
      .sort(),
  );
  return environments.filter(({ length }) => length > 0);
}

test.each(['production-hosts', 'production-operators-values'])(
  '%s: Postgres is reached at a host by its certificate',
  (set) => {
    const urls = settingsOf(set, /POSTGRES_URL$/).flat();
    expect(urls.length).toBeGreaterThan(5);
    for (const url of urls) expect(url).toMatch(/^\w+_URL=postgres:.*\?sslmode=verify-full&sslrootcert=\//);
    const reads = urls.some((url) => url.startsWith('POSTGRES_URL=postgres://exchange-ro.stores:'));
    expect(reads, 'design-catalog reads at a host for reads').toBe(set === 'production-operators-values');
  },
);

const production = 'REDIS_URL=rediss://redis.stores.svc.cluster.local:6379/0';
const cluster = 'REDIS_URL=rediss://redis-0.redis:6379,redis-1.redis:6379/0';
const sentinels = 'REDIS_URL=rediss://sentinel-0:26379,sentinel-1:26379,sentinel-2:26379/2';
test.each([
  ['test-hosts', ['REDIS_MIN_REPLICAS=0', 'REDIS_URL=redis://redis:6379/0']],
  ['production-hosts', ['REDIS_MIN_REPLICAS=1', production]],
  ['production-operators-values', ['REDIS_CLUSTER=true', 'REDIS_MIN_REPLICAS=1', cluster]],
  ['test-everything-values', ['REDIS_MIN_REPLICAS=1', 'REDIS_SENTINEL_MASTER=exchange', sentinels]],
])('%s: identity and its migration reach Redis as the values say', (set, expected) => {
  const plain = settingsOf(set, /^REDIS_(?!.*_FILE$)/);
  expect(plain).toEqual([expected, expected, expected]);
});

const sentinel = { mode: 'sentinel', sentinel: { masterName: 'exchange', serverPorts: [6380] } };
const reached: readonly (readonly [what: string, redis: Values, ports: readonly number[]])[] = [
  ['a name without port', { hosts: ['redis-7'] }, [6379]],
  ['an address without port', { hosts: ['10.20.30.40'] }, [6379]],
  ['an address of IPv6 without port', { hosts: ['[fd00::7]'] }, [6379]],
  ['an address with port', { hosts: ['10.20.30.40:6390'] }, [6390]],
  ['Sentinels without port', { ...sentinel, hosts: ['sentinel-0', 'sentinel-1'] }, [26379, 6380]],
  ['Sentinels with port', { ...sentinel, hosts: ['sentinel-0:26380'] }, [26380, 6380]],
];

test('identity may reach Redis at the ports of its hosts', async () => {
  const cases = reached.map(([, redis]) => ({ on: 'test-minimal-values', values: { redis } }));
  const found = (await renderAll(cases)).map(({ objects }, at) => {
    const policy = ofKind(objects, 'NetworkPolicy').find(({ metadata }) =>
      metadata.name.endsWith('-identity'),
    );
    const [, , toRedis] = policy?.spec.egress ?? [];
    return [...(reached[at] ?? []).slice(0, 2), toRedis.ports.map(({ port }: KubernetesObject) => port)];
  });
  expect(found).toEqual(reached);
});
