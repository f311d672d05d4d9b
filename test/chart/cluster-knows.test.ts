// What the chart asks a cluster where there is one: Secrets that are missing, and how many pods an autoscaler has made.
import { expect, test } from 'vitest';
import { serveObjects } from './api-server.ts';
import { ofKind } from './objects.ts';
import { helm, isMap, type KubernetesObject, objectsOf, template, type Values } from './render.ts';
import { filesOf, objectsOfSet, valueSets } from './value-sets.ts';

const withHelm = test.skipIf(helm === '');
const namespace = 'exchange';
const object = (apiVersion: string, kind: string, name: string, rest: object): KubernetesObject => ({
  apiVersion,
  kind,
  metadata: { name, namespace },
  ...rest,
});
const secret = (name: string, ...keys: readonly string[]) =>
  object('v1', 'Secret', name, { data: Object.fromEntries(keys.map((key) => [key, 'eA=='])) });
const login = ['username', 'password'];
const pair = ['tls.crt', 'tls.key', 'ca.crt'];
/** All that values-production.yaml names. */
const secrets = [
  secret('course-exchange-keys', 'key-encryption-key', 'user-hash-key'),
  ...[
    'identity-migrator',
    'catalog-migrator',
    'identity-rw',
    'identity-operator',
    'catalog-ro',
    'catalog-feed',
  ].map((role) => secret(`course-exchange-${role}`, ...login)),
  secret('course-exchange-redis', 'password'),
  ...['gateway', 'identity', 'design-catalog', 'operator'].map((name) =>
    secret(`course-exchange-${name}-tls`, ...pair),
  ),
  secret('course-exchange-postgres-ca', 'ca.crt'),
  secret('course-exchange-redis-ca', 'ca.crt'),
  secret('course-exchange-ingress-tls', ...pair),
];
/** What tells that there is a cluster. */
const account = object('v1', 'ServiceAccount', 'default', {});
const without = (...names: readonly string[]) =>
  secrets.filter(({ metadata }) => !names.includes(metadata.name));
const files = filesOf('production-hosts');
const asked = async (objects: readonly KubernetesObject[], values: Values = {}) =>
  template({ files, values, asks: await serveObjects(objects) });

withHelm('Secrets that are missing are told at once, each with its keys', async () => {
  const { code, stderr } = await asked(without('course-exchange-keys', 'course-exchange-gateway-tls'));
  expect(stderr).toContain(
    'Secret course-exchange-keys is missing in namespace exchange: create it with key-encryption-key and user-hash-key, as docs/install.md says.',
  );
  expect(stderr).toContain(
    'Secret course-exchange-gateway-tls is missing in namespace exchange: create it with ca.crt and tls.crt and tls.key',
  );
  expect(stderr.match(/Secret /g)).toHaveLength(2);
  expect(code).toBe(1);
});

withHelm('in a namespace without any Secret all are told', async () => {
  const { stderr } = await asked([account]);
  expect(stderr.match(/Secret [a-z-]+ is missing/g)).toHaveLength(secrets.length);
});

withHelm.each(valueSets)('%s: every Secret that an object names is asked for', async (set) => {
  const objects = await objectsOfSet(set);
  const made = ofKind(objects, 'Certificate').map(({ spec }) => spec.secretName);
  const named = new Set(objects.flatMap(secretsOf).filter((name) => !made.includes(name)));
  const asks = await serveObjects([account, secret('of-another-release', 'release')]);
  const { stderr } = await template({ files: filesOf(set), asks });
  const told = [...stderr.matchAll(/Secret ([a-z-]+) is missing/g)].map(([, name]) => name);
  expect(told.length).toBeGreaterThan(1);
  expect(told.sort()).toEqual([...named].sort());
});

/** But that of `helm test`, whose partner is registered in what is installed. */
function secretsOf(object: unknown): readonly string[] {
  if (Array.isArray(object)) return object.flatMap(secretsOf);
  if (!isMap(object) || object.optional === true) return [];
  if (isMap(object.metadata) && JSON.stringify(object.metadata).includes('"helm.sh/hook":"test"')) return [];
  const { name } = isMap(object.secret) ? object.secret : {};
  const own = [object.secretName, name].filter((one) => typeof one === 'string');
  return [...own, ...Object.values(object).flatMap(secretsOf)];
}

withHelm('a key that is missing is told', async () => {
  const { code, stderr } = await asked([
    ...without('course-exchange-redis'),
    secret('course-exchange-redis', 'pass'),
  ]);
  expect(stderr).toContain(
    'Secret course-exchange-redis in namespace exchange has no password: add it, or name',
  );
  expect(code).toBe(1);
});

withHelm.each<readonly [what: string, there: readonly KubernetesObject[], values: Values]>([
  ['all Secrets are there', secrets, {}],
  [
    'an object of the release makes the one that is not',
    without('course-exchange-redis'),
    { extraObjects: [{ kind: 'ExternalSecret', spec: { target: { name: 'course-exchange-redis' } } }] },
  ],
  [
    'cert-manager makes the certificates',
    without(
      'course-exchange-gateway-tls',
      'course-exchange-identity-tls',
      'course-exchange-design-catalog-tls',
    ),
    { internalTls: { certManager: { enabled: true, issuerRef: { name: 'services' } } } },
  ],
  [
    'cert-manager makes the certificate of the Ingress',
    without('course-exchange-ingress-tls'),
    { ingress: { annotations: { 'cert-manager.io/cluster-issuer': 'public' } } },
  ],
  ['the cluster says nothing, as in a dry run', [], {}],
])('nothing is refused where %s', async (_, there, values) => {
  const { code, stderr } = await asked(there, values);
  expect(stderr).toBe('');
  expect(code).toBe(0);
});

withHelm('without a cluster, and with one that has all, the manifests are the same', async () => {
  const alone = await template({ files });
  expect((await asked(secrets)).stdout).toBe(alone.stdout);
});

withHelm.each([
  ['two, as before the autoscaler', 2, 2],
  ['one, fewer than the autoscaler keeps', 1, 2],
  ['five, as the autoscaler has made', 5, 5],
])('a Deployment of %s has %i pods and keeps %i under an autoscaler', async (_, replicas, kept) => {
  const name = 'environment-course-exchange-gateway';
  const there = [...secrets, object('apps/v1', 'Deployment', name, { spec: { replicas } })];
  const objects = await objectsOf({ files, asks: await serveObjects(there) });
  const found = Object.fromEntries(
    ofKind(objects, 'Deployment').map(({ metadata, spec }) => [metadata.name, spec.replicas]),
  );
  expect(found).toEqual({
    [name]: kept,
    'environment-course-exchange-identity': undefined,
    'environment-course-exchange-design-catalog': undefined,
  });
});

/** Pods of the gateway after each upgrade, as Helm's three-way merge leaves them. The autoscaler makes 5, and 8 during the next. */
withHelm.each<readonly [what: string, scaled: readonly boolean[], pods: readonly number[]]>([
  ['installed with an autoscaler', [true, true, true], [1, 8, 8]],
  ['whose autoscaler is turned on: what was there at its beginning', [false, true, true], [2, 2, 5]],
  ['whose autoscaler is turned off, and on again', [true, false, true], [1, 2, 2]],
])('an upgrade of a release %s', async (_, scaled, pods) => {
  const name = 'environment-course-exchange-gateway';
  let there: readonly KubernetesObject[] = [];
  let before: number | undefined;
  let live = 1;
  const found: number[] = [];
  for (const enabled of scaled) {
    const values = { defaults: { autoscaling: { enabled } } };
    const objects = await objectsOf({ files, values, asks: await serveObjects([...secrets, ...there]) });
    const rendered = objects.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === name);
    const autoscalers = ofKind(objects, 'HorizontalPodAutoscaler');
    if (ofKind(there, 'HorizontalPodAutoscaler').length > 0) live = 8;
    // What left the manifest is removed, and the API server makes it 1.
    live = rendered?.spec.replicas ?? (before === undefined ? live : 1);
    found.push(live);
    before = rendered?.spec.replicas;
    if (enabled) live = 5;
    there = [...autoscalers, object('apps/v1', 'Deployment', name, { spec: { replicas: live } })];
  }
  expect(found).toEqual(pods);
});
