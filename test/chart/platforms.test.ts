// What clusters and platforms differ in: a parent chart, IPv6, containers and objects of the
// operator's, and an upgrade that keeps the values of an older release.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Case, renderAll } from './many.ts';
import { containersOf, ofKind, podOf, podsOf } from './objects.ts';
import { chart, type KubernetesObject, objectsOf, type Values } from './render.ts';
import { valuesOfSet } from './value-sets.ts';

const minimal = 'test-minimal-values';
const everything = 'test-everything-values';
const proxy = { name: 'proxy', image: 'proxy:1', restartPolicy: 'Always' };
const containers = {
  defaults: {
    initContainers: [proxy],
    extraContainers: [{ name: 'beside', image: 'proxy:1' }],
    deploymentAnnotations: { a: 'b' },
  },
  designCatalog: { extraContainers: [], deploymentAnnotations: { c: 'd' } },
};
const spread = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' };
const labelSelector = { matchLabels: { tier: 'edge' } };
const placed = {
  nodeSelector: { pool: 'keys' },
  tolerations: [{ key: 'dedicated', operator: 'Exists' }],
  affinity: { podAffinity: {} },
  priorityClassName: 'keys',
};
const rotation = {
  containerSecurityContext: { capabilities: { drop: ['ALL'] }, runAsGroup: 3 },
  podSecurityContext: { runAsUser: 7 },
};
const own = {
  ...{ apiVersion: 'v1', kind: 'ConfigMap', data: { issuer: '{{ .Values.issuer }}' } },
  metadata: { name: '{{ .Release.Name }}-own', namespace: '{{ .Release.Namespace }}' },
};
/** What a release that knew none of the newer values says of them. */
const older = {
  ...{ tests: null, metrics: null, telemetry: null, httpRoute: null, extraObjects: null },
  listenAddress: null,
  networkPolicy: { dnsPorts: null },
  defaults: { initContainers: null, extraContainers: null, deploymentAnnotations: null },
  gateway: { service: { type: null } },
  ingress: { limits: { controller: null }, tls: { terminatedElsewhere: null } },
};

const cases = {
  plain: { on: minimal },
  older: { on: minimal, values: older },
  ipv4: { on: everything },
  ipv6: { on: everything, values: { listenAddress: '::' } },
  spread: {
    on: minimal,
    values: { gateway: { topologySpreadConstraints: [{ ...spread, labelSelector }, spread] } },
  },
  containers: { on: 'test-hosts', values: containers },
  rotation: { on: everything, values: { identity: { ...placed, ...rotation } } },
  extraObjects: { on: minimal, values: { extraObjects: [own] } },
} satisfies Readonly<Record<string, Case>>;
const all = await renderAll(Object.values(cases));
const objectsOfCase = (name: keyof typeof cases) => all[Object.keys(cases).indexOf(name)]?.objects ?? [];

test.each([
  ['ipv4', '0.0.0.0', '0.0.0.0'],
  ['ipv6', '::', '[::]'],
] as const)('by %s every port of every pod listens', (name, address, rpc) => {
  const pods = podsOf(objectsOfCase(name)).filter(({ owner }) => owner.startsWith('Deployment/'));
  const hosts = containersOf(pods).map((container) => {
    const listening = container.env.filter((one: KubernetesObject) => one.name.endsWith('_HOST'));
    return [container.name, listening.map((one: KubernetesObject) => `${one.name}=${one.value}`).sort()];
  });
  const [health, http] = [`HEALTH_HOST=${address}`, `HTTP_HOST=${address}`];
  expect(Object.fromEntries(hosts)).toEqual({
    gateway: [health, http],
    identity: [health, `OPERATOR_HOST=${address}`, `RPC_HOST=${rpc}`],
    'design-catalog': [`FEED_HOST=${address}`, health, `RPC_HOST=${rpc}`],
    'demo-partner': [health, http],
  });
});

test("every pod may pull with the release's Secrets and those of a parent chart, however they are written", () => {
  const names = ['mirror', 'mirror-too', 'registry'].map((name) => ({ name }));
  for (const { spec, owner } of podsOf(objectsOfCase('ipv4')))
    expect(spec.imagePullSecrets, owner).toEqual(names);
});

test("a spread's own selector is kept as it is, and the component's taken where there is none", () => {
  const [kept, made] = podOf(objectsOfCase('spread'), 'gateway')?.spec.topologySpreadConstraints ?? [];
  expect(kept).toEqual({ ...spread, labelSelector });
  expect(made.labelSelector.matchLabels).toMatchObject({ 'app.kubernetes.io/component': 'gateway' });
});

test('containers of the operator stand around those of the chart, sidecars of Jobs before their steps', () => {
  const objects = objectsOfCase('containers');
  const names = (list: readonly KubernetesObject[]) => list.map(({ name }) => name).join(' ');
  const found = podsOf(objects).map(({ component, spec }) => [
    component,
    `${names(spec.initContainers)}, ${names(spec.containers)}`,
  ]);
  const steps = 'check-identity check-design-catalog migrate-identity migrate-design-catalog';
  expect(Object.fromEntries(found)).toEqual({
    gateway: 'proxy, gateway beside',
    identity: 'proxy, identity beside',
    'design-catalog': 'proxy, design-catalog',
    'demo-partner': 'proxy, demo-partner beside',
    migrations: `proxy ${steps}, seed`,
    'contract-tests': 'proxy, contract-tests',
  });
  const annotations = ofKind(objects, 'Deployment').map(({ metadata }) =>
    Object.keys(metadata.annotations).join(),
  );
  expect(annotations.sort()).toEqual(['a', 'a', 'a', 'a,c']);
});

test('the rotation of keys runs where identity runs, and as it does', () => {
  const pod = podOf(objectsOfCase('rotation'), 'key-rotation');
  expect(pod?.spec).toMatchObject({ ...placed, securityContext: rotation.podSecurityContext });
  expect(pod?.spec.containers[0].securityContext).toMatchObject(rotation.containerSecurityContext);
  expect(pod?.spec).not.toHaveProperty('initContainers');
});

test('objects of the operator are templates of the release', () => {
  const [made] = ofKind(objectsOfCase('extraObjects'), 'ConfigMap');
  expect(made?.metadata).toEqual({ name: 'environment-own', namespace: 'exchange' });
  expect(made?.data).toEqual({ issuer: 'https://exchange.test' });
});

test('values of a release that knew none of the newer values are enough', () => {
  expect(objectsOfCase('older')).toEqual(objectsOfCase('plain'));
});

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'chart-'));
  onTestFinished(() => rmSync(made, { recursive: true }));
  return made;
}

test('as part of a parent chart it stands under a condition', async () => {
  const parent = folder();
  cpSync(chart, join(parent, 'charts/course-exchange'), { recursive: true });
  const condition = 'course-exchange.enabled';
  const dependencies = [{ name: 'course-exchange', version: '*', condition, repository: '' }];
  const text = JSON.stringify({ apiVersion: 'v2', name: 'parent', version: '0.1.0', dependencies });
  writeFileSync(join(parent, 'Chart.yaml'), text);
  const values = (enabled: boolean): Values => ({ 'course-exchange': { ...valuesOfSet(minimal), enabled } });
  expect((await objectsOf({ of: parent, values: values(true) })).length).toBeGreaterThan(6);
  expect(await objectsOf({ of: parent, values: values(false) })).toEqual([]);
});

/** What the script says in the place of kubectl and openssl, which are there in name alone. */
function namesInCertificates(environment: Readonly<Record<string, string>>): readonly string[] {
  const tools = folder();
  const openssl = 'echo "$@"; while [ $# -gt 0 ]; do case $1 in -keyout|-out) : >"$2" ;; esac; shift; done';
  for (const [name, text] of Object.entries({ openssl, kubectl: '' }))
    writeFileSync(join(tools, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  const script = join(chart, '../../deploy/kubernetes/prepare.sh');
  const env = { ...environment, PATH: `${tools}:${process.env.PATH}` };
  const said = execFileSync('bash', [script, '--dry-run'], { env, encoding: 'utf8' });
  return [...said.matchAll(/subjectAltName=(?:DNS:)?(\S+)/g)].map(([, name = '']) => name);
}

test.each([
  ['cluster.local', {}],
  ['other.local', { CLUSTER_DOMAIN: 'other.local' }],
])('services are called by the names that prepare.sh signs: %s', async (clusterDomain, more) => {
  const release = 'course-exchange';
  const [rendered] = await renderAll([{ on: minimal, values: { clusterDomain }, release }]);
  const called = containersOf(podsOf(rendered?.objects ?? []))
    .flatMap(({ env }) => env.filter(({ name }: KubernetesObject) => name.endsWith('_TARGET')))
    .map(({ value }) => value.replace(/^dns:\/\/\/|:\d+$/g, ''));
  expect(new Set(called).size).toBe(2);
  const environment = {
    HOST: 'exchange.example',
    NAMESPACE: 'exchange',
    REDIS_PASSWORD: 'of Redis',
    ...more,
  };
  expect(namesInCertificates(environment)).toEqual(expect.arrayContaining(called));
});
