// What is packed beside the templates: the catalogue's metadata, the changes, examples that fit the values, and what Helm
// says after an installation.
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { privatePorts } from '@course-exchange/rules/private-ports';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { secretOf, withApiServer } from './api-server.ts';
import { containersOf, ofKind, podsOf } from './objects.ts';
import {
  type Case,
  chart,
  filesOf,
  type KubernetesObject,
  renderAll,
  template,
  type Values,
  valuesOf,
} from './render.ts';

const read = (file: string) => readFileSync(join(chart, file), 'utf8');
const documents = (file: string): KubernetesObject[] =>
  parseAllDocuments(read(file)).map((document) => document.toJS() as KubernetesObject);
const release = 'course-exchange';

test('the metadata of Artifact Hub name every image and the version and changes of the chart', async () => {
  const { version, appVersion, icon, annotations } = parse(read('Chart.yaml'));
  const named: KubernetesObject[] = parse(annotations['artifacthub.io/images']);
  const [rendered] = await renderAll([{ on: 'test-hosts' }]);
  const images = containersOf(podsOf(rendered?.objects ?? [])).map(({ image }) => image);
  expect(named.map(({ image }) => image).sort()).toEqual([...new Set(images)].sort());
  expect(named.every(({ image }) => image.endsWith(`:${appVersion}`))).toBe(true);
  for (const file of globSync('../../{.,services/*}/package.json', { cwd: chart }))
    expect(JSON.parse(read(file)), file).toHaveProperty('version', appVersion);
  expect(parse(annotations['artifacthub.io/changes'])[0]).toHaveProperty('kind');
  expect(read('CHANGELOG.md')).toMatch(new RegExp(`^## ${version.replaceAll('.', '\\.')}$`, 'm'));
  expect(Buffer.from(icon.split(',')[1], 'base64').toString()).toMatch(/^<svg /);
});

const auditExport = { existingClaim: 'course-exchange-audit', tlsSecret: 'course-exchange-audit-export-tls' };
const examples: Case = {
  on: 'production-hosts',
  values: {
    ...valuesOf('examples/values.yaml'),
    identity: { auditExport },
    designCatalog: { feed: { tlsSecret: 'course-exchange-feed-tls' } },
  },
  release,
};

test('the examples make every Secret that production asks for, with every key', async () => {
  const [external] = documents('examples/external-secrets.yaml');
  const certificates = documents('examples/cert-manager.yaml').filter(({ kind }) => kind === 'Certificate');
  const fields = 'key-encryption-key user-hash-key redis-password postgres-ca.crt redis-ca.crt'.split(' ');
  const [comment] = read('examples/external-secrets.yaml').split('\napiVersion');
  for (const field of fields) expect(comment).toContain(field);
  const roles = 'identity_migrator catalog_migrator identity_rw identity_operator catalog_ro catalog_feed';
  const { name, template } = external?.spec.target ?? {};
  const made = [
    secretOf(name, [...fields, ...roles.split(' '), ...Object.keys(template.data)]),
    ...certificates.map(({ spec }) => secretOf(spec.secretName, ['tls.crt', 'tls.key', 'ca.crt'])),
  ];
  const [rendered] = await withApiServer(made, (address) => renderAll([examples], address));
  expect(rendered?.refused).toBe('');
});

test('the examples have an issuer for every certificate, and the names that clients call', async () => {
  const [rendered] = await renderAll([examples]);
  const given = documents('examples/cert-manager.yaml');
  const certificates = [...given, ...(rendered?.objects ?? [])].filter(({ kind }) => kind === 'Certificate');
  expect(certificates).toHaveLength(11);
  const issuers = ofKind(given, 'Issuer').map(({ metadata }) => metadata.name);
  for (const { spec } of certificates) expect(issuers).toContain(spec.issuerRef.name);
  const services = ofKind(rendered?.objects ?? [], 'Service').map(({ metadata }) => metadata.name);
  for (const port of ['operator', 'feed']) {
    const served = certificates.find(({ spec }) => spec.secretName === `course-exchange-${port}-tls`);
    const service = services.find((name) => name.endsWith(`-${port}`));
    expect(served?.spec.dnsNames[0]).toBe(`${service}.exchange.svc.cluster.local`);
  }
});

test('each client of the private ports has the role of its work as the only OU', () => {
  const clients = documents('examples/cert-manager.yaml').filter(
    ({ kind, spec }) => kind === 'Certificate' && spec.usages?.includes('client auth'),
  );
  const roles = clients.map(({ spec }) => [spec.commonName, spec.subject?.organizationalUnits]);
  expect(Object.fromEntries(roles)).toEqual({
    ann: ['operator'],
    'audit-export': ['auditor'],
    'key-rotation': ['key-rotation'],
    platform: ['feed'],
  });
});

test('a clone in which nothing was written yet is refused when its rules and dashboards are wanted', async () => {
  const clone = mkdtempSync(join(tmpdir(), 'chart-'));
  try {
    cpSync(chart, clone, { recursive: true, filter: (path) => !/\/(rules|dashboards)$/.test(path) });
    const { exit, err } = await template(clone, filesOf('test-everything-values'));
    expect(exit).toBe(1);
    for (const wanted of ['metrics.prometheusRule.runbookUrl', 'metrics.dashboards.enabled'])
      expect(err).toMatch(new RegExp(`^${wanted} needs .*: run \`npx --yes pnpm@12 prepare\``, 'm'));
    expect(await template(clone, filesOf('test-minimal-values'))).toHaveProperty('exit', 0);
  } finally {
    rmSync(clone, { recursive: true });
  }
});

const minimal = 'test-minimal-values';
const unreached = 'No request can reach the gateway';
const unreachable = { ingress: { enabled: false }, networkPolicy: { ingressControllerFrom: [] } };
const names = ['gateway', 'identity', 'design-catalog'].map(
  (name) => `course-exchange-${name}.exchange.svc.cluster.local in Secret course-exchange-${name}-tls`,
);
const port = `PARTNERCTL_IDENTITY=https://localhost:${privatePorts.OPERATOR} partnerctl status`;

const anywhere = [{ ipBlock: { cidr: '0.0.0.0/0' } }];
const open = { postgresTo: [], redisTo: anywhere, dnsTo: [{ ipBlock: { cidr: '::/0' } }] };
const traced = { telemetry: { endpoint: 'http://collector:4318' }, networkPolicy: open };
const openPeers = ['dnsTo', 'postgresTo', 'redisTo', 'telemetryTo'].map(
  (peers) => `networkPolicy.${peers}\n`,
);
const balanced = (more: object) => ({ gateway: { service: { type: 'LoadBalancer', ...more } } });
const portless = {
  identity: { operator: { tlsSecret: '' } },
  postgres: { roles: { identityOperator: { existingSecret: '' } } },
};
const otherController = { ingress: { className: 'other' } };
const rewritten = "the nodes' addresses";

test.each<[on: string, values: Values, says: readonly string[], not: string]>([
  ['production-hosts', traced, ['call any address', ...openPeers], 'issuerTo'],
  [
    'production-hosts',
    { networkPolicy: { redisTo: [] } },
    ['networkPolicy.redisTo\n'],
    'networkPolicy.postgresTo',
  ],
  [minimal, traced, [], 'any address'],
  [minimal, balanced({}), [rewritten], 'Nothing rotates'],
  [minimal, balanced({ externalTrafficPolicy: 'Cluster' }), [rewritten], 'Nothing rotates'],
  [minimal, balanced({ externalTrafficPolicy: 'Local' }), [], rewritten],
  ['test-open-values', {}, [rewritten], 'Nothing rotates'],
  [minimal, {}, ['-c identity -- partnerctl status'], unreached],
  ['production-hosts', {}, [port, ...names], 'connections from one address'],
  ['production-hosts', otherController, ['connections from one address there, to\n500 or more'], unreached],
  ['production-hosts', portless, [], 'partnerctl'],
  ['test-everything-values', {}, ['Both an Ingress and an HTTPRoute'], 'certificates must be'],
  [minimal, unreachable, [unreached], 'Nothing rotates'],
  ['production-hosts', { identity: { keyRotation: { tlsSecret: '' } } }, ['Nothing rotates'], unreached],
])('the notes of %s with %j', async (on, values, says, not) => {
  const [rendered] = await renderAll([{ on, values, release }]);
  for (const text of says) expect(rendered?.notes).toContain(text);
  expect(rendered?.notes).not.toContain(not);
});
