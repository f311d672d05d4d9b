// What each container runs, with which settings, and where it finds the others and the stores.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { documentationOf } from '@course-exchange/runtime/process/settings';
import { expect, test } from 'vitest';
import { programs } from '../generate/settings.ts';
import { containersOf, ofKind, podOf, podsOf } from './objects.ts';
import { chart, type KubernetesObject, renderAll, renderSets, type Values, valuesAt } from './render.ts';
import { valueTypes } from './value-schema.ts';

const sets = await renderSets();
const everySet = test.each(sets);
const objectsOf = (name: string) => sets.find(({ set }) => set === name)?.objects ?? [];

/** Whose settings a container reads: `identity migration`. */
function programOf(container: string): string {
  return container.replace(/^(check|migrate)-(.*)$/, '$2 migration');
}

/** What every program may be given, whether its table lists it or not. */
const everywhere =
  /^(LOG_LEVEL|MALLOC_ARENA_MAX|NODE_EXTRA_CA_CERTS|OTEL_(EXPORTER_OTLP_ENDPOINT|TRACES_SAMPLER_ARG))$/;

everySet('$set: programs get the settings that they know, and all that they require', ({ objects }) => {
  const checked = containersOf(podsOf(objects)).filter(({ name }) => programOf(name) in programs);
  expect(checked.length).toBeGreaterThan(6);
  for (const { name, env } of checked) {
    const settings = Object.entries(programs[programOf(name)] ?? {});
    const given: string[] = env.map((one: KubernetesObject) => one.name.replace(/_FILE$/, ''));
    const known = settings.map(([one]) => one);
    expect(given.filter((one) => !known.includes(one) && !everywhere.test(one))).toEqual([]);
    const required = settings.filter(([, one]) => documentationOf(one).required).map(([one]) => one);
    expect(given, name).toEqual(expect.arrayContaining([...required, 'MALLOC_ARENA_MAX']));
  }
});

/** Both ends of the values that have a range. */
const atBounds = [
  { 'redis.minReplicas': 0, 'telemetry.samplerRatio': 1e-5 },
  { 'redis.minReplicas': 5, 'telemetry.samplerRatio': 1 },
].map((values) => ({ on: 'test-everything-values', values: valuesAt(values) }));

test('settings are valid in all sets of values, and at the bounds of values', async () => {
  const bounded = await renderAll(atBounds);
  expect(bounded.map(({ refused }) => refused)).toEqual(['', '']);
  const settings = [...sets, ...bounded].flatMap(({ objects }) =>
    containersOf(podsOf(objects)).flatMap(({ name: container, env }) =>
      env.map(({ name, value }: KubernetesObject) => ({ container, name, value })),
    ),
  );
  const invalid = settings.filter(
    ({ container, name, value }) =>
      programs[programOf(container)]?.[name]?.safeParse(value).success === false,
  );
  expect(invalid).toEqual([]);
});

test('a component’s environment is added to that of all, and replaces what has its name', async () => {
  const [all, mine] = [
    { name: 'ALL', value: '1' },
    { name: 'BOTH', value: 'mine' },
  ];
  const values = {
    defaults: { extraEnv: [all, { name: 'BOTH', value: 'all' }] },
    gateway: { extraEnv: [mine] },
  };
  const [{ objects } = { objects: [] }] = await renderAll([{ on: 'production-hosts', values }]);
  const envOf = (component: string) =>
    containersOf(podsOf(objects))
      .find(({ name }) => name === component)
      ?.env.slice(-2);
  expect(envOf('gateway')).toEqual([all, mine]);
  expect(envOf('identity')).toEqual(values.defaults.extraEnv);
});

test('neither the chart nor the gateway trusts a network that is too wide', () => {
  const { pattern } = (valueTypes.trustedNetworks as { items: Values }).items;
  const judges = [
    (network: string) => new RegExp(`${pattern}`).test(network),
    (network: string) => programs.gateway?.TRUSTED_PROXIES?.safeParse(network).success,
  ];
  const narrow = ['10.0.0.0/8', '192.0.2.1', '2001:db8::/16', 'fd00::/128', '::1', 'FD00::1:2/120'];
  const wide = ['0.0.0.0/0', '10.0.0.0/7', '::/0', '2001:db8::/15', '::/16', '::ffff:0:0/96'];
  for (const judge of judges) expect([...narrow, ...wide].filter(judge)).toEqual(narrow);
});

everySet('$set: a container runs its own program, with flags of Node before it', ({ objects }) => {
  for (const { name, where, args, pod } of containersOf(podsOf(objects))) {
    if (name === 'contract-tests') continue;
    const at = args.findIndex((word: string) => word.startsWith('/app/'));
    const program: string = args[at];
    for (const flag of args.slice(0, at)) expect(flag, where).toMatch(/^--/);
    if (pod.owner.startsWith('Deployment/'))
      expect(program).toBe(`/app/services/${pod.component}/src/main.js`);
    const migrated = /^(?:check|migrate)-(.*)$/.exec(name)?.[1];
    if (migrated) expect(program).toBe(`/app/services/${migrated}/src/migrate.js`);
    const source = join(chart, '../..', program.replace('/app/', '').replace(/\.js$/, '.ts'));
    expect(existsSync(source) || /^\/app\/(seed|partnerctl)\.js$/.test(program), program).toBe(true);
  }
});

everySet('$set: every address of another component is that of a Service with the port', ({ objects }) => {
  const ports = ofKind(objects, 'Service').flatMap(({ metadata, spec }) =>
    spec.ports.map(({ port }: KubernetesObject) => `${metadata.name}.${metadata.namespace}.svc:${port}`),
  );
  const texts: string[] = containersOf(podsOf(objects)).flatMap(({ env, args }) => [
    ...env.map(({ value = '' }) => value),
    ...args,
  ]);
  const addresses = texts.filter((text) => /\.svc\.cluster\.\w+:\d+$/.test(text));
  expect(addresses.length).toBeGreaterThan(2);
  for (const address of addresses)
    expect(ports).toContain(address.replace(/^[a-z]+:\/+/, '').replace(/\.cluster\.\w+(?=:\d+$)/, ''));
});

everySet('$set: all know one issuer, and each the environment of its installation', ({ set, objects }) => {
  const variables: KubernetesObject[] = containersOf(podsOf(objects)).flatMap(({ env }) => env);
  const told = (name: RegExp) => [
    ...new Set(variables.filter((one) => name.test(one.name)).map(({ value }) => value)),
  ];
  expect(told(/^(CONTRACT_)?ISSUER$/)).toHaveLength(1);
  expect(told(/^ENVIRONMENT$/)).toEqual([set.split('-')[0]]);
  expect(told(/^ACCESS_TOKEN_ALGORITHM$/)).toHaveLength(1);
});

everySet('$set: both schemas are checked before either is changed, before any pod is', ({ set, objects }) => {
  const pod = podOf(objects, 'migrations');
  const steps = pod === undefined ? [] : containersOf([pod]);
  // The first tells its faults and lets the second tell its own; then the migration checks again and ends the Job.
  const modes = steps.map(({ name, args }) => [
    name,
    args.find((word: string) => /^--(check|report)$/.test(word)),
  ]);
  expect(modes).toEqual([
    ['check-identity', '--report'],
    ['check-design-catalog', '--check'],
    ['migrate-identity', undefined],
    ['migrate-design-catalog', undefined],
    ...(podOf(objects, 'demo-partner') ? [['seed', undefined]] : []),
  ]);
  const before = objects
    .filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'] === 'pre-install,pre-upgrade')
    .map(({ kind, metadata }) => `${kind} ${metadata.annotations['helm.sh/hook-weight']}`);
  expect(before.sort()).toEqual(set === 'test-open-values' ? ['Job 0'] : ['Job 0', 'NetworkPolicy -10']);
});

test('`helm test` tests the demo data with the demo partner, else the partners in a Secret, else nothing', () => {
  const found = ['test-hosts', 'test-everything-values', 'test-minimal-values'].map((on) => {
    const pod = podOf(objectsOf(on), 'contract-tests');
    const given: KubernetesObject[] = pod?.spec.containers[0].env ?? [];
    return given.filter(({ name }) => /_(BASE_URL|DEMO|STACK)/.test(name)).map(({ value }) => value);
  });
  const gateway = 'http://environment-course-exchange-gateway.exchange.svc.cluster.local:8080';
  const ofEverything = 'http://environment-course-exchange-gateway.exchange.svc.cluster.example:8080';
  expect(found).toEqual([
    [gateway, 'true', 'https://planner.test.exchange.courses-of-the-north.net'],
    [ofEverything, '/run/course-exchange/secrets/stack.json'],
    [],
  ]);
});

/** `NAME=value` of each container's settings of that kind; none for a container without. */
function settingsOf(set: string, kind: RegExp): readonly (readonly string[])[] {
  const environments = containersOf(podsOf(objectsOf(set))).map(({ env }) =>
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
  expect(settingsOf(set, /^REDIS_(?!.*_FILE$)/)).toEqual([expected, expected, expected]);
});

const sentinel = { mode: 'sentinel', sentinel: { masterName: 'exchange' }, serverPorts: [6380] };
const ofCluster = { mode: 'cluster', serverPorts: [6380, 6381] };
const reached: readonly (readonly [what: string, redis: Values, ports: readonly number[]])[] = [
  ['a name without port', { hosts: ['redis-7'] }, [6379]],
  ['an address without port', { hosts: ['10.20.30.40'] }, [6379]],
  ['an address of IPv6 without port', { hosts: ['[fd00::7]'] }, [6379]],
  ['an address with port', { hosts: ['10.20.30.40:6390'] }, [6390]],
  ['Sentinels without port', { ...sentinel, hosts: ['sentinel-0', 'sentinel-1'] }, [26379, 6380]],
  ['seeds of a Cluster', { ...ofCluster, hosts: ['redis-0', 'redis-1:6381'] }, [6379, 6381, 6380]],
  ['a server alone', { ...ofCluster, mode: 'standalone', hosts: ['redis-0'] }, [6379]],
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
