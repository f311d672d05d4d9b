// Collects the schemas by which the suite `chart` validates rendered objects: of Kubernetes' own kinds as a running API
// server publishes them, of others as their makers do, without prose.
// Run by hand: KUBECONFIG=… node test/chart/schemas/collect.ts [FILE.yaml with a CustomResourceDefinition]…
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

// biome-ignore lint/suspicious/noExplicitAny: whatever an API server publishes
type Schema = Record<string, any>;

const groups = [
  'api/v1',
  ...['apps', 'batch', 'policy', 'networking.k8s.io'].map((name) => `apis/${name}/v1`),
];

const prose = new Set(['description', 'default', 'example', 'title']);
const definitions: Record<string, Schema> = {};
const kinds: Record<string, Schema> = {};
for (const path of [...groups, 'apis/autoscaling/v2'])
  for (const [name, schema] of Object.entries<Schema>(published(`openapi/v3/${path}`).components.schemas)) {
    definitions[name] = strict(schema);
    for (const { group, version, kind } of schema['x-kubernetes-group-version-kind'] ?? [])
      kinds[`${group ? `${group}/` : ''}${version} ${kind}`] = { $ref: `#/definitions/${name}` };
  }
for (const file of process.argv.slice(2)) collectCustom(parse(readFileSync(file, 'utf8')).spec);
const text = JSON.stringify({ kubernetes: published('version').gitVersion, kinds, definitions });
writeFileSync(join(import.meta.dirname, 'schemas.json'), `${text}\n`);

function published(path: string): Schema {
  const words = ['get', '--raw', `/${path}`];
  return JSON.parse(execFileSync('kubectl', words, { encoding: 'utf8', maxBuffer: 64 << 20 }));
}

function collectCustom({ group, names, versions }: Schema): void {
  const metadata = { $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' };
  for (const { name, schema } of versions.filter(({ storage }: Schema) => storage)) {
    const { properties, ...rest } = schema.openAPIV3Schema;
    kinds[`${group}/${name} ${names.kind}`] = strict({ ...rest, properties: { ...properties, metadata } });
  }
}

/** Without prose and extensions; an object that lists its properties has no others. `named`: keys are properties' names. */
function strict(value: unknown, named = false): Schema {
  if (Array.isArray(value)) return value.map((item) => strict(item));
  if (typeof value === 'string')
    return value.replace('#/components/schemas/', '#/definitions/') as unknown as Schema;
  if (typeof value !== 'object' || value === null) return value as unknown as Schema;
  const schema = value as Schema;
  if (schema['x-kubernetes-int-or-string'] === true) return { type: ['integer', 'string'] };
  const dropped = (key: string, inner: unknown) =>
    prose.has(key) ||
    key.startsWith('x-kubernetes-') ||
    // A pattern that only Go's regular expressions know.
    (key === 'pattern' && String(inner).includes('(?i)'));
  const cut = Object.fromEntries(
    Object.entries(schema)
      .filter(([key, inner]) => named || !dropped(key, inner))
      .map(([key, inner]) => [key, strict(inner, !named && key === 'properties')]),
  ) as Schema;
  const open =
    schema['x-kubernetes-preserve-unknown-fields'] === true || cut.additionalProperties !== undefined;
  return named || open || cut.properties === undefined ? cut : { ...cut, additionalProperties: false };
}
