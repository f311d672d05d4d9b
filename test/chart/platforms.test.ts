// What clusters and platforms differ in: a parent chart, IPv6, the ports of DNS, registries, and an upgrade that keeps the values of
// an older release.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { containersOf, ofKind, podsOf } from './objects.ts';
import {
  chart,
  helm,
  type KubernetesObject,
  mergeValues,
  objectsOf,
  type Values,
  valuesOf,
} from './render.ts';
import { filesOf } from './value-sets.ts';

const withHelm = test.skipIf(helm === '');
const minimal = 'test-minimal-values';
const objectsWith = (values: Values, on = minimal) => objectsOf({ files: filesOf(on), values });

withHelm('as part of a parent chart it stands under a condition', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'chart-'));
  onTestFinished(() => rmSync(parent, { recursive: true }));
  cpSync(chart, join(parent, 'charts/course-exchange'), { recursive: true });
  const dependencies = [
    { name: 'course-exchange', version: '*', condition: 'course-exchange.enabled', repository: '' },
  ];
  writeFileSync(
    join(parent, 'Chart.yaml'),
    JSON.stringify({ apiVersion: 'v2', name: 'parent', version: '0.1.0', dependencies }),
  );
  const values = (enabled: boolean) => ({
    'course-exchange': mergeValues(valuesOf(`ci/${minimal}.yaml`), { enabled }) as Values,
  });
  expect((await objectsOf({ of: parent, values: values(true) })).length).toBeGreaterThan(6);
  expect(await objectsOf({ of: parent, values: values(false) })).toEqual([]);
});

withHelm.each([
  ['0.0.0.0', '0.0.0.0'],
  ['::', '[::]'],
])('on %s every port of every pod listens', async (listenAddress, rpc) => {
  const objects = await objectsWith({ listenAddress }, 'test-everything-values');
  const hosts = podsOf(objects)
    .filter(({ owner }) => owner.startsWith('Deployment/'))
    .flatMap(containersOf)
    .map(({ name, env }) => [
      name,
      env
        .filter((one: KubernetesObject) => one.name.endsWith('_HOST'))
        .map((one: KubernetesObject) => `${one.name}=${one.value}`)
        .sort(),
    ]);
  const health = `HEALTH_HOST=${listenAddress}`;
  const http = `HTTP_HOST=${listenAddress}`;
  expect(Object.fromEntries(hosts)).toEqual({
    gateway: [health, http],
    identity: [health, `OPERATOR_HOST=${listenAddress}`, `RPC_HOST=${rpc}`],
    'design-catalog': [`FEED_HOST=${listenAddress}`, health, `RPC_HOST=${rpc}`],
    'demo-partner': [health, http],
  });
});

withHelm("DNS is asked at its pods' ports", async () => {
  const policies = ofKind(await objectsWith({ networkPolicy: { dnsPorts: [53, 5353] } }), 'NetworkPolicy');
  const rules: KubernetesObject[] = policies.flatMap(({ spec }) => spec.egress ?? []);
  const toDns = rules.filter(({ ports }) => ports.some((one: KubernetesObject) => one.protocol === 'UDP'));
  expect(toDns.length).toBe(4);
  for (const { ports } of toDns)
    expect(ports.map((one: KubernetesObject) => `${one.protocol} ${one.port}`)).toEqual([
      'UDP 53',
      'TCP 53',
      'UDP 5353',
      'TCP 5353',
    ]);
});

/** What the script says in the place of kubectl and openssl, which are there in name alone. */
function namesInCertificates(environment: Readonly<Record<string, string>>): readonly string[] {
  const tools = mkdtempSync(join(tmpdir(), 'tools-'));
  onTestFinished(() => rmSync(tools, { recursive: true }));
  const openssl = 'echo "$@"; while [ $# -gt 0 ]; do case $1 in -keyout|-out) : >"$2" ;; esac; shift; done';
  for (const [name, text] of Object.entries({ openssl, kubectl: '' }))
    writeFileSync(join(tools, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  const script = join(chart, '../../deploy/kubernetes/prepare.sh');
  const env = { ...environment, PATH: `${tools}:${process.env.PATH}` };
  const said = execFileSync('bash', [script, '--dry-run'], { env, encoding: 'utf8' });
  return [...said.matchAll(/subjectAltName=(?:DNS:)?(\S+)/g)].map(([, name = '']) => name);
}

withHelm.each([
  ['cluster.local', {}],
  ['other.local', { CLUSTER_DOMAIN: 'other.local' }],
])('services are called by the names that prepare.sh signs: %s', async (clusterDomain, more) => {
  const [release, namespace] = ['course-exchange', 'exchange'];
  const own = { HOST: 'exchange.example', NAMESPACE: namespace, REDIS_PASSWORD: 'of Redis', ...more };
  const objects = await objectsOf({
    files: filesOf(minimal),
    values: { clusterDomain },
    ...{ release, namespace },
  });
  const called = podsOf(objects)
    .flatMap(containersOf)
    .flatMap(({ env = [] }) => env)
    .filter(({ name }: KubernetesObject) => name.endsWith('_TARGET'))
    .map(({ value }: KubernetesObject) => value.replace(/^dns:\/\/\/|:\d+$/g, ''));
  expect(new Set(called).size).toBe(2);
  expect(namesInCertificates(own)).toEqual(expect.arrayContaining(called));
});

withHelm('a repository may name its registry with a port', async () => {
  const own = { repository: 'other.local:5000/courses/identity' };
  const objects = await objectsWith({
    image: { repository: 'images.local:5000/courses' },
    identity: { image: own },
  });
  const images: string[] = podsOf(objects)
    .flatMap(containersOf)
    .map(({ image }) => image);
  expect(images).toContain('images.local:5000/courses/gateway:0.1.0');
  expect(images).toContain('other.local:5000/courses/identity:0.1.0');
});

withHelm(
  "a spread's own selector is kept as it is, and the component's taken where there is none",
  async () => {
    const spread = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' };
    const labelSelector = { matchLabels: { tier: 'edge' } };
    const topologySpreadConstraints = [{ ...spread, labelSelector }, spread];
    const gateway = podsOf(await objectsWith({ gateway: { topologySpreadConstraints } })).find(
      ({ owner, component }) => owner.startsWith('Deployment/') && component === 'gateway',
    );
    const [kept, made] = gateway?.spec.topologySpreadConstraints ?? [];
    expect(kept).toEqual({ ...spread, labelSelector });
    expect(made.labelSelector.matchLabels).toMatchObject({ 'app.kubernetes.io/component': 'gateway' });
  },
);

withHelm(
  'containers of the operator stand around those of the chart, sidecars of Jobs before their steps',
  async () => {
    const own = { image: 'proxy:1' };
    const initContainers = [{ name: 'proxy', restartPolicy: 'Always', ...own }];
    const values = {
      defaults: {
        initContainers,
        extraContainers: [{ name: 'beside', ...own }],
        deploymentAnnotations: { a: 'b' },
      },
      designCatalog: { extraContainers: [], deploymentAnnotations: { c: 'd' } },
    };
    const objects = await objectsWith(values, 'test-hosts');
    const names = podsOf(objects).map(({ component, spec }) => [
      component,
      [spec.initContainers, spec.containers].map((list) => list.map(({ name }: KubernetesObject) => name)),
    ]);
    expect(Object.fromEntries(names)).toEqual({
      gateway: [['proxy'], ['gateway', 'beside']],
      identity: [['proxy'], ['identity', 'beside']],
      'design-catalog': [['proxy'], ['design-catalog']],
      'demo-partner': [['proxy'], ['demo-partner', 'beside']],
      migrations: [
        ['proxy', 'check-identity', 'check-design-catalog', 'migrate-identity', 'migrate-design-catalog'],
        ['seed'],
      ],
      'contract-tests': [['proxy'], ['contract-tests']],
    });
    const annotations = ofKind(objects, 'Deployment').map(({ metadata }) => metadata.annotations);
    expect(annotations).toHaveLength(4);
    expect(annotations).toEqual(expect.arrayContaining([{ a: 'b' }, { a: 'b', c: 'd' }]));
  },
);

withHelm('the rotation of keys runs where identity runs, and as it does', async () => {
  const placed = {
    nodeSelector: { pool: 'keys' },
    tolerations: [{ key: 'dedicated', operator: 'Exists' }],
    affinity: { podAffinity: {} },
    priorityClassName: 'keys',
  };
  const containerSecurityContext = { capabilities: { drop: ['ALL'] }, runAsGroup: 3 };
  const own = { ...placed, containerSecurityContext, podSecurityContext: { runAsUser: 7 } };
  const [rotation] = podsOf(await objectsWith({ identity: own }, 'test-everything-values')).filter(
    ({ component }) => component === 'key-rotation',
  );
  expect(rotation?.spec).toMatchObject({ ...placed, securityContext: { runAsUser: 7 } });
  expect(rotation?.spec.containers[0].securityContext).toMatchObject(containerSecurityContext);
  expect(rotation?.spec).not.toHaveProperty('initContainers');
});

withHelm('objects of the operator are templates of the release', async () => {
  const extraObjects = [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: '{{ .Release.Name }}-own', namespace: '{{ .Release.Namespace }}' },
      data: { issuer: '{{ .Values.issuer }}' },
    },
  ];
  const [made] = ofKind(await objectsWith({ extraObjects }), 'ConfigMap');
  expect(made?.metadata).toEqual({ name: 'environment-own', namespace: 'exchange' });
  expect(made?.data).toEqual({ issuer: 'https://exchange.test' });
});

withHelm('the Service of the gateway alone has another type', async () => {
  const objects = await objectsWith({ gateway: { service: { type: 'LoadBalancer' } } });
  const types = ofKind(objects, 'Service').map(({ metadata, spec }) => [
    metadata.name.split('-').at(-1),
    spec.type,
  ]);
  expect(Object.fromEntries(types)).toEqual({
    gateway: 'LoadBalancer',
    identity: 'ClusterIP',
    catalog: 'ClusterIP',
  });
});

withHelm('values of a release that knew none of the newer values are enough', async () => {
  const values = { tests: null, metrics: null, telemetry: null, httpRoute: null, extraObjects: null };
  const newer = {
    listenAddress: null,
    networkPolicy: { dnsPorts: null },
    defaults: { initContainers: null, extraContainers: null, deploymentAnnotations: null },
    gateway: { service: { type: null } },
    ingress: { limits: { controller: null }, tls: { terminatedElsewhere: null } },
  };
  const objects = await objectsWith({ ...values, ...newer });
  expect(objects).toEqual(await objectsWith({}));
});
