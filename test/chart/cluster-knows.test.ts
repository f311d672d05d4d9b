// What the chart asks a cluster where there is one: Secrets that are missing, and how many pods an autoscaler has made.
import { expect, test } from 'vitest';
import { withApiServer } from './api-server.ts';
import { type Case, type Rendered, renderAll } from './many.ts';
import { ofKind } from './objects.ts';
import { isMap, type KubernetesObject, type Values } from './render.ts';
import { valueSets } from './value-sets.ts';

type Objects = readonly KubernetesObject[];

const object = (kind: string, name: string, rest: object = {}) => ({ kind, metadata: { name }, ...rest });
const secret = (name: string, ...keys: readonly string[]) =>
  object('Secret', name, { data: Object.fromEntries(keys.map((key) => [key, 'eA=='])) });
const pair = ['tls.crt', 'tls.key', 'ca.crt'];
const roles = 'identity-migrator catalog-migrator identity-rw identity-operator catalog-ro catalog-feed';
/** All that values-production.yaml names. */
const secrets = [
  secret('course-exchange-keys', 'key-encryption-key', 'user-hash-key'),
  ...roles.split(' ').map((role) => secret(`course-exchange-${role}`, 'username', 'password')),
  secret('course-exchange-redis', 'password'),
  ...['gateway', 'identity', 'design-catalog', 'operator', 'ingress'].map((name) =>
    secret(`course-exchange-${name}-tls`, ...pair),
  ),
  ...['postgres', 'redis'].map((store) => secret(`course-exchange-${store}-ca`, 'ca.crt')),
];
const without = (...names: readonly string[]) =>
  secrets.filter(({ metadata }) => !names.includes(metadata.name.replace('course-exchange-', '')));
/** What tells that there is a cluster: what every namespace has, or any Secret. */
const account = object('ServiceAccount', 'default');

/** Each in a namespace of its own, with objects that are there. */
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

const external = {
  extraObjects: [{ kind: 'ExternalSecret', spec: { target: { name: 'course-exchange-redis' } } }],
};
const answers: readonly (readonly [
  what: string,
  there: Objects,
  told: readonly string[],
  values?: Values,
])[] = [
  ['all are there', secrets, []],
  ['the cluster says nothing, as in a dry run', [], []],
  [
    'two are missing',
    without('keys', 'gateway-tls'),
    [
      'Secret course-exchange-gateway-tls is missing in namespace space-2: create it with ca.crt and tls.crt and tls.key, as docs/install.md says.',
      'Secret course-exchange-keys is missing in namespace space-2: create it with key-encryption-key and user-hash-key, as docs/install.md says.',
    ],
  ],
  [
    'a key is missing',
    [...without('redis'), secret('course-exchange-redis', 'pass')],
    [
      'Secret course-exchange-redis in namespace space-3 has no password: add it, or name the key that it has in the values.',
    ],
  ],
  ['an object of the release makes the one that is not there', without('redis'), [], external],
  [
    'cert-manager makes the certificates',
    without('gateway-tls', 'identity-tls', 'design-catalog-tls'),
    [],
    {
      internalTls: { certManager: { enabled: true, issuerRef: { name: 'services' } } },
    },
  ],
  [
    'cert-manager makes the certificate of the Ingress',
    without('ingress-tls'),
    [],
    {
      ingress: { annotations: { 'cert-manager.io/cluster-issuer': 'public' } },
    },
  ],
];

test('Secrets that are missing are told at once, each with its keys', async () => {
  const rendered = await renderWith(answers.map(([, there, , values]) => ({ there, values })));
  const told = rendered.map(({ refused }) => refused.split('\n').filter(Boolean));
  expect(told.map((lines, at) => [answers[at]?.[0], lines])).toEqual(
    answers.map(([what, , lines]) => [what, lines]),
  );
});

test('without a cluster, and with one that has all, the manifests are the same', async () => {
  const [asked] = await renderWith([{ there: secrets }]);
  const [alone] = await renderAll([{ on: 'production-hosts', namespace: 'space-0' }]);
  expect(asked).toEqual(alone);
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

interface Release {
  /** Whether there is an autoscaler, by upgrade. */
  readonly scaled: readonly boolean[];
  /** Pods that it makes before the next upgrade; during that it makes 8. */
  readonly made: number;
  readonly there: Objects;
  /** What the manifest before said. */
  readonly before: number | undefined;
  readonly live: number;
  /** Pods of the gateway after each upgrade. */
  readonly pods: readonly number[];
}

const gateway = 'environment-course-exchange-gateway';

/** As Helm's three-way merge leaves it. */
function upgraded(release: Release, objects: Objects): Release {
  const { scaled, made, there, before, pods } = release;
  const deployment = ofKind(objects, 'Deployment').find(({ metadata }) => metadata.name === gateway);
  const said: number | undefined = deployment?.spec.replicas;
  const during = ofKind(there, 'HorizontalPodAutoscaler').length > 0 ? 8 : release.live;
  // What left the manifest is removed, and the API server makes it 1.
  const after = said ?? (before === undefined ? during : 1);
  const live = scaled[pods.length] ? made : after;
  const autoscalers = ofKind(objects, 'HorizontalPodAutoscaler');
  const rest = { there: [...autoscalers, object('Deployment', gateway, { spec: { replicas: live } })], live };
  return { ...release, ...rest, before: said, pods: [...pods, after] };
}

const upgrades: readonly (readonly [what: string, scaled: readonly boolean[], made: number, number[]])[] = [
  ['installed with an autoscaler', [true, true, true], 5, [1, 8, 8]],
  ['an autoscaler is turned on: what was there at the beginning', [false, true, true], 5, [2, 2, 5]],
  ['an autoscaler is turned off, and on again', [true, false, true], 5, [1, 2, 2]],
  ['there are fewer than the autoscaler keeps', [false, true, true], 1, [2, 2, 2]],
];

test('pods after each upgrade of a release', async () => {
  let releases = upgrades.map(
    ([, scaled, made]): Release => ({ scaled, made, there: [], before: undefined, live: 1, pods: [] }),
  );
  for (const step of [0, 1, 2]) {
    const rendered = await renderWith(
      releases.map(({ scaled, there }) => ({
        there: [...secrets, ...there],
        values: { defaults: { autoscaling: { enabled: scaled[step] } } },
      })),
    );
    releases = releases.map((release, at) => upgraded(release, rendered[at]?.objects ?? []));
  }
  expect(releases.map(({ pods }, at) => [upgrades[at]?.[0], pods])).toEqual(
    upgrades.map(([what, , , pods]) => [what, pods]),
  );
});
