// What the chart asks a cluster where there is one: Secrets that are missing, and how many pods an autoscaler has made.
import { expect, test } from 'vitest';
import { secretOf, withApiServer } from './api-server.ts';
import { ofKind } from './objects.ts';
import {
  type Case,
  isMap,
  type KubernetesObject,
  type Rendered,
  renderAll,
  type Values,
  valueSets,
} from './render.ts';

type Objects = readonly KubernetesObject[];

const object = (kind: string, name: string, rest: object = {}) => ({ kind, metadata: { name }, ...rest });
const secret = (name: string, ...keys: readonly string[]) => secretOf(name, keys);
const pair = ['tls.crt', 'tls.key', 'ca.crt'];
const roles = 'identity-migrator catalog-migrator identity-rw identity-operator catalog-ro catalog-feed';
/** All that values-production.yaml names. */
const secrets = [
  secret('course-exchange-keys', 'key-encryption-key', 'user-hash-key'),
  ...roles.split(' ').map((role) => secret(`course-exchange-${role}`, 'username', 'password')),
  secret('course-exchange-redis', 'password'),
  ...['gateway', 'identity', 'design-catalog'].map((name) =>
    secret(`environment-course-exchange-${name}-tls`, ...pair),
  ),
  ...['operator', 'key-rotation', 'ingress'].map((name) => secret(`course-exchange-${name}-tls`, ...pair)),
  ...['postgres', 'redis'].map((store) => secret(`course-exchange-${store}-ca`, 'ca.crt')),
];
const without = (...names: readonly string[]) =>
  secrets.filter(({ metadata }) => !names.includes(metadata.name.replace(/.*course-exchange-/, '')));
/** What tells that there is a cluster: what every namespace has, or any Secret. */
const account = object('ServiceAccount', 'default');

/** Each in a separate namespace, with objects that exist. */
function renderWith(
  cases: readonly (Partial<Case> & { readonly there: Objects })[],
): Promise<readonly Rendered[]> {
  const placed = cases.flatMap(({ there }, at) =>
    there.map((one) => ({ ...one, metadata: { ...one.metadata, namespace: `space-${at}` } })),
  );
  const all = cases.map(
    ({ there: _, ...rest }, at): Case => ({ on: 'production-hosts', ...rest, namespace: `space-${at}` }),
  );
  return withApiServer(placed, (address) => renderAll(all, address));
}

const external = { spec: { target: { name: 'course-exchange-redis' } } };
const certManager = { issuerRef: { name: 'services' } };
const annotations = { 'cert-manager.io/cluster-issuer': 'public' };
const [lacksKeys, lacksCertificate, lacksPassword] = [
  'Secret course-exchange-keys is missing in namespace space-1: run deploy/kubernetes/prepare.sh with FULLNAME=environment-course-exchange, or create it with key-encryption-key and user-hash-key, as docs/install.md says.',
  'Secret environment-course-exchange-gateway-tls is missing in namespace space-1: run deploy/kubernetes/prepare.sh with FULLNAME=environment-course-exchange, or create it with ca.crt and tls.crt and tls.key, as docs/install.md says.',
  'Secret course-exchange-redis in namespace space-2 has no password: add it, or name the key that it has in the values.',
];
const passless = [...without('redis'), secret('course-exchange-redis', 'pass')];
type Answer = readonly [what: string, there: Objects, told: readonly string[], values?: Values];
const answers: readonly Answer[] = [
  ['the cluster says nothing, as in a dry run', [], []],
  ['two are missing', without('keys', 'gateway-tls'), [lacksKeys, lacksCertificate]],
  ['a key is missing', passless, [lacksPassword]],
  ['an object of the release makes the one', without('redis'), [], { extraObjects: [external] }],
  [
    'cert-manager makes the certificates',
    without('gateway-tls', 'identity-tls', 'design-catalog-tls'),
    [],
    { internalTls: { certManager } },
  ],
  ['cert-manager makes that of the Ingress', without('ingress-tls'), [], { ingress: { annotations } }],
];

test('missing Secrets are reported at once, each with its keys', async () => {
  const rendered = await renderWith(answers.map(([, there, , values]) => ({ there, values })));
  for (const [at, [what, , told]] of answers.entries())
    expect(rendered[at]?.refused, what).toBe(told.join('\n'));
});

test.each([
  ['an account', valueSets.filter((set) => set !== 'test-open-values'), account],
  ['a Secret of another release', valueSets, secret('of-another-release', 'release')],
] as const)('every Secret that an object names is asked for, where there is %s', async (_, sets, there) => {
  for (const { objects, refused } of await renderWith(sets.map((on) => ({ on, there: [there] })))) {
    const made = ofKind(objects, 'Certificate').map(({ spec }) => spec.secretName);
    const named = new Set(objects.flatMap(secretsOf).filter((name) => !made.includes(name)));
    const told = [...refused.matchAll(/Secret ([a-z-]+) is missing/g)].map(([, name]) => name);
    expect(told.length).toBeGreaterThan(1);
    expect(told.sort()).toEqual([...named].sort());
  }
});

/** But that of `helm test`, whose partner is registered in what is installed. */
function secretsOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(secretsOf);
  if (!isMap(value) || value.optional === true) return [];
  if (isMap(value.metadata) && JSON.stringify(value.metadata).includes('"helm.sh/hook":"test"')) return [];
  const { name } = isMap(value.secret) ? value.secret : {};
  const own = [value.secretName, name].filter((one) => typeof one === 'string');
  return [...own, ...Object.values(value).flatMap(secretsOf)];
}

const gateway = 'environment-course-exchange-gateway';
const key = 'course-exchange/replicas';
const autoscaler = (annotations: object) =>
  object('HorizontalPodAutoscaler', gateway, { metadata: { name: gateway, annotations } });
const unsaid = { [key]: 'not-in-manifest' };

/** What a manifest once said it must go on saying: Helm would take it away, and Kubernetes fall back to one pod. */
const scaled: readonly (readonly [what: string, pods: number, there: Objects, said: object])[] = [
  ['installed with an autoscaler', 1, [], { replicas: undefined, ...unsaid }],
  ['with one from the beginning', 5, [autoscaler(unsaid)], { replicas: undefined, ...unsaid }],
  ['whose autoscaler is turned on', 5, [], { replicas: 5 }],
  ['with fewer pods than it keeps', 1, [], { replicas: 2 }],
  ['whose autoscaler was turned on once', 8, [autoscaler({})], { replicas: 8 }],
];

test('pods that an autoscaler made stay through an upgrade of a release', async () => {
  const cases = scaled.map(([, replicas, autoscalers], at) => ({
    there: [
      ...secrets,
      ...autoscalers,
      ...(at === 0 ? [] : [object('Deployment', gateway, { spec: { replicas } })]),
    ],
  }));
  const found = (await renderWith(cases)).map(({ objects }) => {
    const [deployment, autoscaled] = ['Deployment', 'HorizontalPodAutoscaler'].map((kind) =>
      ofKind(objects, kind).find(({ metadata }) => metadata.name === gateway),
    );
    return { replicas: deployment?.spec.replicas, ...autoscaled?.metadata.annotations };
  });
  for (const [at, [what, , , said]] of scaled.entries()) expect(found[at], what).toEqual(said);
});

const identity = (url: string, more: Readonly<Record<string, string>> = {}, annotations = {}) => {
  const env = Object.entries({ REDIS_URL: url, ...more }).map(([name, value]) => ({ name, value }));
  const metadata = { name: 'environment-course-exchange-identity', annotations };
  const containers = [{ name: 'proxy' }, { name: 'identity', env }];
  return object('Deployment', 'identity', { metadata, spec: { template: { spec: { containers } } } });
};
const now = 'rediss://redis.stores.svc.cluster.local:6379/0';
const [byMaster, byMode] = [{ REDIS_SENTINEL_MASTER: 'exchange' }, { REDIS_CLUSTER: 'true' }];
const sentinels = { mode: 'sentinel', hosts: ['b', 'a:26380'], sentinel: { masterName: 'exchange' } };
const seeds = { mode: 'cluster', hosts: ['b', 'a:6380'] };
const second = { 'course-exchange/redis-generation': '2' };
const other = 'redis://a:6379/0';

const moves: readonly (readonly [what: string, runs: KubernetesObject, redis: Values, told: string])[] = [
  ['the same', identity(now), {}, ''],
  ['the same, now with TLS', identity(now.replace('rediss', 'redis')), {}, ''],
  ['the same, its port left out', identity('rediss://Redis.stores.svc.cluster.local/0'), {}, ''],
  ['the same Sentinels', identity('redis://a:26380,b:26379/0', byMaster), sentinels, ''],
  ['the same Cluster', identity('redis://a:6380,b:6379/0', byMode), seeds, ''],
  ['another host', identity(other), {}, 'standalone a:6379/0'],
  ['another port', identity(now.replace('6379', '6380')), {}, ':6380/0'],
  ['another database', identity(now.replace(/0$/, '1')), {}, ':6379/1'],
  [
    'another Sentinel',
    identity('redis://a:26380,c/0', byMaster),
    sentinels,
    'sentinel exchange a:26380,c:26379/0',
  ],
  ['one Sentinel more', identity('redis://a:26380/0', byMaster), sentinels, 'sentinel exchange a:26380/0'],
  [
    'another master',
    identity('redis://a:26380,b/0', { REDIS_SENTINEL_MASTER: 'x' }),
    sentinels,
    'sentinel x a:26380',
  ],
  ['another node', identity('redis://c/0', byMode), seeds, 'cluster c:6379/0'],
  ['no Cluster any more', identity(now, byMode), {}, 'cluster redis'],
  ['a Cluster from now on', identity('redis://a:6380,b:6379/0'), seeds, 'standalone a:6380,b:6379/0'],
  ['another host, as is said', identity(other), { generation: 2 }, ''],
  [
    'another host, as was said before',
    identity(other, {}, second),
    { generation: 2 },
    'redis.generation to 3',
  ],
  ['another host, as is said again', identity(other, {}, second), { generation: 3 }, ''],
];

test('an upgrade to another Redis is refused, unless the values say that it is one', async () => {
  const rendered = await renderWith(moves.map(([, runs, redis]) => ({ there: [runs], values: { redis } })));
  for (const [at, [what, , , told]] of moves.entries()) {
    const { refused = '', objects = [] } = rendered[at] ?? {};
    if (told === '') expect(refused, what).toBe('');
    else
      expect(refused, what).toMatch(
        /^redis is another .* docs\/recovery\.md .* redis\.generation to \d.*\.$/,
      );
    expect(refused, what).toContain(told);
    const made = ofKind(objects, 'Deployment').find(({ metadata }) => metadata.name.endsWith('-identity'));
    const { generation = 1 } = moves[at]?.[2] ?? {};
    expect(made?.metadata.annotations).toEqual({ 'course-exchange/redis-generation': `${generation}` });
  }
});
