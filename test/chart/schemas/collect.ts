// Collects the schemas by which the suite `chart` judges rendered objects: of Kubernetes' own kinds as a running API
// server publishes them, of others as their makers do, cut down to the kinds that the chart makes, without prose.
// Run by hand: KUBECONFIG=… node test/chart/schemas/collect.ts [FILE.yaml with a CustomResourceDefinition]…
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

type Schema = Record<string, unknown>;

const kinds: Readonly<Record<string, readonly string[]>> = {
  'api/v1': ['Service', 'ServiceAccount', 'ConfigMap', 'Pod', 'Secret'],
  'apis/apps/v1': ['Deployment'],
  'apis/batch/v1': ['Job', 'CronJob'],
  'apis/policy/v1': ['PodDisruptionBudget'],
  'apis/autoscaling/v2': ['HorizontalPodAutoscaler'],
  'apis/networking.k8s.io/v1': ['Ingress', 'NetworkPolicy'],
};

const prose = new Set(['description', 'default', 'example', 'title']);
const definitions: Record<string, Schema> = {};
const byKind: Record<string, Schema> = {};
for (const [path, wanted] of Object.entries(kinds)) collectGroup(path, wanted);
for (const file of process.argv.slice(2)) collectCustom(file);
const text = JSON.stringify({ kubernetes: serverVersion(), kinds: byKind, definitions });
writeFileSync(join(import.meta.dirname, 'schemas.json'), `${text}\n`);

function kubectl(...words: string[]): string {
  return execFileSync('kubectl', words, { encoding: 'utf8', maxBuffer: 64 << 20 });
}

function serverVersion(): string {
  return (JSON.parse(kubectl('get', '--raw', '/version')) as { gitVersion: string }).gitVersion;
}

function collectGroup(path: string, wanted: readonly string[]): void {
  const published = JSON.parse(kubectl('get', '--raw', `/openapi/v3/${path}`)) as {
    components: { schemas: Record<string, Schema> };
  };
  const schemas = published.components.schemas;
  const groupVersion = path.replace(/^apis?\//, '');
  for (const kind of wanted) {
    const name = Object.keys(schemas).find((key) => isOf(schemas[key], groupVersion, kind));
    if (name === undefined) throw new Error(`${path} publishes no ${kind}`);
    byKind[`${groupVersion} ${kind}`] = { $ref: `#/definitions/${name}` };
    keep(name, schemas);
  }
}

function isOf(schema: Schema | undefined, groupVersion: string, kind: string): boolean {
  const named = (schema?.['x-kubernetes-group-version-kind'] ?? []) as {
    group: string;
    version: string;
    kind: string;
  }[];
  return named.some(
    (one) => [one.group, one.version].filter(Boolean).join('/') === groupVersion && one.kind === kind,
  );
}

/** The schema and whatever it refers to. */
function keep(name: string, schemas: Readonly<Record<string, Schema>>): void {
  if (definitions[name] !== undefined) return;
  definitions[name] = {};
  const cut = strict(schemas[name]) as Schema;
  definitions[name] = cut;
  for (const [, other] of JSON.stringify(cut).matchAll(/"#\/definitions\/([^"]+)"/g)) {
    if (other !== undefined) keep(other, schemas);
  }
}

function collectCustom(file: string): void {
  const { spec } = parse(readFileSync(file, 'utf8')) as {
    spec: {
      group: string;
      names: { kind: string };
      versions: { name: string; storage: boolean; schema: { openAPIV3Schema: Schema } }[];
    };
  };
  for (const version of spec.versions.filter(({ storage }) => storage)) {
    byKind[`${spec.group}/${version.name} ${spec.names.kind}`] = strict({
      ...version.schema.openAPIV3Schema,
      properties: {
        ...(version.schema.openAPIV3Schema.properties as Schema),
        metadata: { $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' },
      },
    }) as Schema;
  }
}

/** A pattern that only Go's regular expressions know. */
function isOfGo(key: string, value: unknown): boolean {
  return key === 'pattern' && typeof value === 'string' && value.includes('(?i)');
}

/** Without prose and extensions; an object that lists its properties has no others. `named`: keys are properties' names. */
function strict(value: unknown, named = false): unknown {
  if (Array.isArray(value)) return value.map((item) => strict(item));
  if (typeof value === 'string') return value.replace('#/components/schemas/', '#/definitions/');
  if (typeof value !== 'object' || value === null) return value;
  const schema = value as Schema;
  if (schema['x-kubernetes-int-or-string'] === true) return { type: ['integer', 'string'] };
  const kept = Object.entries(schema).filter(
    ([key, inner]) => named || !(prose.has(key) || key.startsWith('x-kubernetes-') || isOfGo(key, inner)),
  );
  const cut = Object.fromEntries(
    kept.map(([key, inner]) => [key, strict(inner, !named && key === 'properties')]),
  );
  const closed =
    !named &&
    cut.properties !== undefined &&
    cut.additionalProperties === undefined &&
    schema['x-kubernetes-preserve-unknown-fields'] !== true;
  return closed ? { ...cut, additionalProperties: false } : cut;
}
