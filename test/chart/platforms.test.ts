// What clusters and platforms differ in: a parent chart, IPv6, names in the cluster's DNS, and containers and objects of the
// operator's.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { secretOf, withApiServer } from './api-server.ts';
import { containersOf, ofKind, podOf, podsOf } from './objects.ts';
import { chart, type KubernetesObject, renderAll, template, valuesOfSet } from './render.ts';

const minimal = 'test-minimal-values';
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
const [everything, open, byIpv6, spreading, rotating] = (
  await renderAll([
    { on: 'test-everything-values' },
    { on: 'test-open-values' },
    { on: 'test-everything-values', values: { listenAddress: '::' } },
    {
      on: minimal,
      values: { gateway: { topologySpreadConstraints: [{ ...spread, labelSelector }, spread] } },
    },
    { on: 'test-everything-values', values: { identity: { ...placed, ...rotation } } },
  ])
).map(({ objects }) => objects);

test.each([
  ['IPv4', everything, '0.0.0.0', '0.0.0.0'],
  ['IPv6', byIpv6, '::', '[::]'],
] as const)('by %s every port of every pod listens', (_, objects = [], address, rpc) => {
  const pods = podsOf(objects).filter(({ owner }) => owner.startsWith('Deployment/'));
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

test("every pod may pull with the release's Secrets and those of a parent chart, as text or map", () => {
  const names = ['mirror', 'mirror-too', 'registry'].map((name) => ({ name }));
  for (const { spec, owner } of podsOf(everything ?? [])) expect(spec.imagePullSecrets, owner).toEqual(names);
});

test("a spread's own selector is kept, and the component's taken where there is none", () => {
  const [kept, made] = podOf(spreading ?? [], 'gateway')?.spec.topologySpreadConstraints ?? [];
  expect(kept).toEqual({ ...spread, labelSelector });
  expect(made.labelSelector.matchLabels).toMatchObject({ 'app.kubernetes.io/component': 'gateway' });
});

test('containers of the operator stand around those of the chart, sidecars of Jobs before their steps', () => {
  const names = (list: readonly KubernetesObject[]) => list.map(({ name }) => name).join(' ');
  const found = podsOf(open ?? []).map(({ component, spec }) => [
    component,
    `${names(spec.initContainers)}, ${names(spec.containers)}`,
  ]);
  expect(Object.fromEntries(found)).toEqual({
    gateway: 'proxy, gateway beside',
    identity: 'proxy, identity beside',
    'design-catalog': 'proxy, design-catalog',
    migrations: 'proxy check-identity check-design-catalog migrate-identity, migrate-design-catalog',
  });
});

test('the rotation of keys runs where identity runs, and as it does', () => {
  const pod = podOf(rotating ?? [], 'key-rotation');
  expect(pod?.spec).toMatchObject({ ...placed, securityContext: rotation.podSecurityContext });
  expect(pod?.spec.containers[0].securityContext).toMatchObject(rotation.containerSecurityContext);
});

test('objects of the operator are templates of the release', () => {
  const [made] = ofKind(open ?? [], 'ConfigMap');
  expect(made?.metadata).toMatchObject({ name: 'environment-own', namespace: 'exchange' });
  expect(made?.data).toEqual({ issuer: 'http://exchange.test' });
});

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'chart-'));
  onTestFinished(() => rmSync(made, { recursive: true }));
  return made;
}

test('as part of a parent chart it stands under a condition, and takes any `global`', async () => {
  const parent = folder();
  cpSync(chart, join(parent, 'charts/course-exchange'), { recursive: true });
  const condition = 'course-exchange.enabled';
  const dependencies = [{ name: 'course-exchange', version: '*', condition, repository: '' }];
  const text = JSON.stringify({ apiVersion: 'v2', name: 'parent', version: '0.1.0', dependencies });
  writeFileSync(join(parent, 'Chart.yaml'), text);
  const global = { anything: { at: ['all', 1] }, imageRegistry: 'images.courses.net' };
  const images = [true, false].map(async (enabled) => {
    const values = { global, 'course-exchange': { ...valuesOfSet(minimal), enabled } };
    const { out } = await template(parent, [], values);
    return out.match(/images\.courses\.net\/course-exchange\/gateway/g)?.length;
  });
  expect(await Promise.all(images)).toEqual([1, undefined]);
});

/** Runs a dry run of prepare.sh in a namespace that has the Secrets `present`. */
function prepare(fullname: string, present = '', operators = 'ann') {
  // In place of kubectl and openssl, which are there in name alone.
  const tools = folder();
  const openssl = 'echo "$@"; while [ $# -gt 0 ]; do case $1 in -keyout|-out) : >"$2" ;; esac; shift; done';
  const kubectl =
    'case $* in *"get secrets"*) echo $PRESENT ;; *generic*) echo made "$6" $(ls "$(echo "$8" | cut -d= -f2)") ;; esac';
  for (const [name, script] of Object.entries({ openssl, kubectl }))
    writeFileSync(join(tools, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const of = { HOST: 'exchange.example', NAMESPACE: 'exchange', CLUSTER_DOMAIN: 'other.local' };
  const stores = { REDIS_USERNAME: 'identity', REDIS_PASSWORD: 'of Redis', REDIS_CA: devNull };
  const env = {
    PATH: `${tools}:${process.env.PATH}`,
    ...of,
    ...stores,
    POSTGRES_CA: devNull,
    OPERATORS: operators,
    FULLNAME: fullname,
    PRESENT: present,
  };
  const script = join(chart, '../../deploy/kubernetes/prepare.sh');
  return execFileSync('bash', [script, '--dry-run'], { env, encoding: 'utf8', stdio: 'pipe' });
}

test.each([
  ['course-exchange', 'course-exchange'],
  ['x', 'x-course-exchange'],
])(
  'prepare.sh makes every Secret of production for release %s, and signs the names that clients call',
  async (release, fullname) => {
    const said = prepare(fullname);
    const made = [...said.matchAll(/^made (\S+) (.*)$/gm)].map(([, name = '', keys = '']) =>
      secretOf(name, keys.split(' ')),
    );
    const audited = {
      auditExport: { existingClaim: 'audit', tlsSecret: 'course-exchange-audit-export-tls' },
    };
    const values = { clusterDomain: 'other.local', redis: { usernameKey: 'username' }, identity: audited };
    const on = { on: 'production-hosts', release, values };
    const [production] = await withApiServer(made, (address) => renderAll([on], address));
    expect(production?.refused).toBe('');
    const called = containersOf(podsOf(production?.objects ?? [])).flatMap(({ env, args }) =>
      [...args, ...env.map(({ value }: KubernetesObject) => value)].flatMap(
        (text) => /(?:^dns:\/\/\/|^https:\/\/)(.*\.svc\..*):\d+$/.exec(text)?.[1] ?? [],
      ),
    );
    expect(new Set(called).size).toBe(3);
    const signed = [...said.matchAll(/DNS:([^,\s]+)/g)].map(([, name]) => name);
    expect(signed).toEqual(expect.arrayContaining(called));
  },
);

test('prepare.sh gives each client of the private ports its role as the only OU, and takes no other role', () => {
  const said = prepare('course-exchange', '', 'ann carol:auditor platform:feed');
  const subjects = [...said.matchAll(/-subj (\S+) .*extendedKeyUsage=clientAuth /g)].map(
    ([, subject]) => subject,
  );
  expect(subjects).toEqual([
    '/OU=key-rotation/CN=key-rotation',
    '/OU=auditor/CN=audit-export',
    '/OU=operator/CN=ann',
    '/OU=auditor/CN=carol',
    '/OU=feed/CN=platform',
  ]);
  expect([...said.matchAll(/^made (operator-\S+)/gm)].map(([, name]) => name)).toEqual([
    'operator-ann',
    'operator-carol',
    'operator-platform',
  ]);
  for (const wrong of ['carol:admin', 'carol:', ':auditor', 'carol:auditor:feed', 'a/OU=feed'])
    expect(() => prepare('course-exchange', '', `ann ${wrong}`), wrong).toThrow(
      `OPERATORS: ${wrong} is not a name`,
    );
});

test.each([
  ['services', 'x-course-exchange-gateway-tls'],
  ['operators', 'course-exchange-key-rotation-tls'],
  ['operators', 'operator-ann'],
  ['operators', 'operator-carol'],
])('prepare.sh makes no second authority of %s beside %s', (authority, present) => {
  const told = `secret/course-exchange-${authority} is missing, and a new authority would not match secret/${present}:`;
  expect(() => prepare('x-course-exchange', `secret/${present}`, 'ann carol:auditor')).toThrow(told);
});
