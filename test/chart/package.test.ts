// What is packed beside the templates: the catalogue's metadata, the changes, and examples that fit the values.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { serveObjects } from './api-server.ts';
import { containersOf, ofKind, podsOf } from './objects.ts';
import { chart, helm, type KubernetesObject, objectsOf, template } from './render.ts';
import { filesOf, objectsOfSet } from './value-sets.ts';

const withHelm = test.skipIf(helm === '');
const read = (file: string) => readFileSync(join(chart, file), 'utf8');
const documents = (file: string): KubernetesObject[] =>
  parseAllDocuments(read(file)).map((document) => document.toJS() as KubernetesObject);
const files = [...filesOf('production-hosts'), 'examples/values.yaml'];
const release = 'course-exchange';
const namespace = 'exchange';
const secret = (name: string, keys: readonly string[]): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace },
  data: Object.fromEntries(keys.map((key) => [key, 'eA=='])),
});

withHelm("the catalogue's metadata name every image, and the changes the version", async () => {
  const { version, appVersion, icon, annotations } = parse(read('Chart.yaml'));
  const named: KubernetesObject[] = parse(annotations['artifacthub.io/images']);
  const images = podsOf(await objectsOfSet('test-hosts')).flatMap(containersOf);
  expect(named.map(({ image }) => image).sort()).toEqual(
    [...new Set(images.map(({ image }) => image))].sort(),
  );
  expect(named.every(({ image }) => image.endsWith(`:${appVersion}`))).toBe(true);
  expect(parse(annotations['artifacthub.io/changes'])[0]).toHaveProperty('kind');
  expect(read('CHANGELOG.md')).toMatch(new RegExp(`^## ${version.replaceAll('.', '\\.')}$`, 'm'));
  expect(Buffer.from(icon.split(',')[1], 'base64').toString()).toMatch(/^<svg /);
});

withHelm('the examples make every Secret that production asks for, with every key', async () => {
  const [external] = documents('examples/external-secrets.yaml');
  const roles = [
    'identity_migrator',
    'catalog_migrator',
    'identity_rw',
    'identity_operator',
    'catalog_ro',
    'catalog_feed',
  ];
  const fields = ['key-encryption-key', 'user-hash-key', 'redis-password', 'postgres-ca.crt', 'redis-ca.crt'];
  for (const field of fields)
    expect(read('examples/external-secrets.yaml').split('\napiVersion')[0]).toContain(field);
  const own = Object.keys(external?.spec.target.template.data);
  const certificates = documents('examples/cert-manager.yaml').filter(({ kind }) => kind === 'Certificate');
  const made = [
    secret(external?.spec.target.name, [...fields, ...roles, ...own]),
    ...certificates.map(({ spec }) => secret(spec.secretName, ['tls.crt', 'tls.key', 'ca.crt'])),
  ];
  expect(await template({ files, release, namespace, asks: await serveObjects(made) })).toMatchObject({
    code: 0,
    stderr: '',
  });
});

withHelm('the examples have an issuer for every certificate, and the names that clients call', async () => {
  const examples = documents('examples/cert-manager.yaml');
  const objects = await objectsOf({ files, release, namespace });
  const certificates = [...ofKind(examples, 'Certificate'), ...ofKind(objects, 'Certificate')];
  expect(certificates).toHaveLength(7);
  const issuers = ofKind(examples, 'Issuer').map(({ metadata }) => metadata.name);
  for (const { spec } of certificates) expect(issuers).toContain(spec.issuerRef.name);
  const operator = ofKind(objects, 'Service').find(({ metadata }) =>
    metadata.name.endsWith('-identity-operator'),
  );
  const served = certificates.find(({ spec }) => spec.secretName === 'course-exchange-operator-tls');
  expect(served?.spec.dnsNames[0]).toBe(`${operator?.metadata.name}.${namespace}.svc.cluster.local`);
});
