// Collects the schemas by which the suite `chart` judges rendered objects: of Kubernetes' own kinds as a running API
// server publishes them, of others as their makers do, cut down to the kinds that the chart makes, without prose.
// Run by hand: KUBECONFIG=… node test/chart/schemas/collect.ts [FILE.yaml with a CustomResourceDefinition]…
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

// biome-ignore lint/suspicious/noExplicitAny: whatever an API server publishes
type Schema = Record<string, any>;

const wanted: Readonly<Record<string, readonly string[]>> = {
  'api/v1': ['Service', 'ServiceAccount', 'ConfigMap', 'Pod', 'Secret'],
  'apis/apps/v1': ['Deployment'],
  'apis/batch/v1': ['Job', 'CronJob'],
  'apis/policy/v1': ['PodDisruptionBudget'],
  'apis/autoscaling/v2': ['HorizontalPodAutoscaler'],
  'apis/networking.k8s.io/v1': ['Ingress', 'NetworkPolicy'],
};

const prose = new Set(['description', 'default', 'example', 'title']);
const definitions: Record<string, Schema> = {};
const kinds: Record<string, Schema> = {};
for (const [path, names] of Object.entries(wanted)) collectGroup(path, names);
for (const file of process.argv.slice(2)) collectCustom(parse(readFileSync(file, 'utf8')).spec);
const text = JSON.stringify({ kubernetes: published('version').gitVersion, kinds, definitions });
writeFileSync(join(import.meta.dirname, 'schemas.json'), `${text}\n`);

function published(path: string): Schema {
  const words = ['get', '--raw', `/${path}`];
  return JSON.parse(execFileSync('kubectl', words, { encoding: 'utf8', maxBuffer: 64 << 20 }));
}

function collectGroup(path: string, names: readonly string[]): void {
  const { schemas } = published(`openapi/v3/${path}`).components;
  const groupVersion = path.replace(/^apis?\//, '');
  for (const kind of names) {
    const name = Object.keys(schemas).find((key) =>
      schemas[key]['x-kubernetes-group-version-kind']?.some(
        (one: Schema) =>
          one.kind === kind && [one.group, one.version].filter(Boolean).join('/') === groupVersion,
      ),
    );
    if (name === undefined) throw new Error(`${path} publishes no ${kind}`);
    kinds[`${groupVersion} ${kind}`] = { $ref: `#/definitions/${name}` };
    keep(name, schemas);
  }
}

/** The schema and whatever it refers to. */
function keep(name: string, schemas: Schema): void {
  if (definitions[name] !== undefined) return;
  definitions[name] = strict(schemas[name]);
  for (const [, other = ''] of JSON.stringify(definitions[name]).matchAll(/"#\/definitions\/([^"]+)"/g))
    keep(other, schemas);
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
