// What clusters and platforms differ in: a parent chart, IPv6, the ports of DNS, registries, ingress controllers.
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { containersOf, ofKind, podsOf } from './objects.ts';
import { chart, helm, type KubernetesObject, laidOver, objectsOf, type Values, valuesOf } from './render.ts';
import { filesOf } from './value-sets.ts';

const withHelm = test.skipIf(helm === '');
const minimal = 'test-minimal-values';
const objectsWith = (values: Values, on = minimal) => objectsOf({ files: filesOf(on), values });

withHelm('as part of a parent chart it stands under a condition', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'chart-'));
  onTestFinished(() => rmSync(parent, { recursive: true }));
  cpSync(chart, join(parent, 'charts/course-exchange'), { recursive: true });
  const dependencies = [
    { name: 'course-exchange', version: '0.1.0', condition: 'course-exchange.enabled', repository: '' },
  ];
  writeFileSync(
    join(parent, 'Chart.yaml'),
    JSON.stringify({ apiVersion: 'v2', name: 'parent', version: '0.1.0', dependencies }),
  );
  const values = (enabled: boolean) => ({
    'course-exchange': laidOver(valuesOf(`ci/${minimal}.yaml`), { enabled }) as Values,
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

withHelm.each([
  ['nginx', 'auto', true],
  ['nginx-internal', 'auto', true],
  ['public', 'auto', false],
  ['public', 'nginx', true],
  ['nginx', 'none', false],
])('class %s, limits of %s: are there annotations? %s', async (className, controller, there) => {
  const objects = await objectsWith({ ingress: { className, limits: { controller } } });
  const [ingress] = ofKind(objects, 'Ingress');
  const annotated = Object.keys(ingress?.metadata.annotations ?? {});
  expect(annotated.includes('nginx.ingress.kubernetes.io/proxy-body-size')).toBe(there);
});

withHelm.each([
  ['15s', { request: '15s' }],
  ['', undefined],
])('an HTTPRoute with the time limit "%s"', async (requestTimeout, timeouts) => {
  const httpRoute = { enabled: true, parentRefs: [{ name: 'public' }], requestTimeout };
  const [route] = ofKind(await objectsWith({ httpRoute }), 'HTTPRoute');
  expect(route?.spec.rules[0].timeouts).toEqual(timeouts);
});
