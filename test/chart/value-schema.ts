// values.schema.json, made from values.yaml: the types that its comments name, else those of the defaults. A `# --`
// comment above a value documents it and all below it, its type in parentheses where the default does not show it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMap, isNode, parseDocument, type Scalar, type YAMLMap } from 'yaml';
import { chart } from './render.ts';
import { type Schema, valueTypes } from './value-types.ts';

export interface DocumentedValue {
  readonly path: readonly string[];
  readonly type: string | undefined;
  readonly description: string;
  readonly defaultValue: unknown;
}

const document = parseDocument(readFileSync(join(chart, 'values.yaml'), 'utf8'));

export const documentedValues: DocumentedValue[] = [];
/** Comments without `--` above maps, by the map's path. */
export const remarks = new Map<string, string>();
read(document.contents as unknown as YAMLMap, []);

function defaultOf(value: unknown): unknown {
  return isNode(value) ? value.toJS(document) : value;
}

/** Throws for a value that no comment documents. */
function read(map: YAMLMap, above: readonly string[]): void {
  for (const [at, { key, value }] of map.items.entries()) {
    const { value: name, commentBefore } = key as Scalar<string>;
    const path = [...above, name];
    // A map has the comment of its first key. What an empty line parts from the key is of all that follow.
    const said = (at === 0 ? map.commentBefore : undefined) ?? commentBefore ?? '';
    const comment = (said.split('\n\n').at(-1) ?? '').replaceAll(/^ | *(\n) /g, (_, end) => (end ? ' ' : ''));
    const [, type, description] = /^-- (?:\(([^)]+)\) )?(.*)/.exec(comment) ?? [];
    if (description !== undefined)
      documentedValues.push({ path, type, description, defaultValue: defaultOf(value) });
    else if (!isMap(value) || value.items.length === 0)
      throw new Error(`values.yaml does not document ${path.join('.')}`);
    else {
      if (comment !== '') remarks.set(path.join('.'), comment);
      read(value, path);
    }
  }
}

/** What `defaults` holds and a component without replicas, or a Job, has no use for. */
const ofReplicated = ['topologySpreadConstraints', 'autoscaling', 'podDisruptionBudget'];
const ofServing = ['preStopSeconds', 'deploymentAnnotations', 'extraContainers'];

/** By component: which of `defaults` may not stand under it. */
const withoutDefaults: Readonly<Record<string, readonly string[]>> = {
  gateway: [],
  identity: [],
  designCatalog: [],
  demoPartner: ofReplicated,
  migrations: [...ofReplicated, ...ofServing],
  tests: [...ofReplicated, ...ofServing],
};

interface ObjectSchema {
  readonly type: 'object';
  readonly additionalProperties: false;
  readonly properties: Record<string, Schema>;
}

/** Throws for a type that nobody knows. */
export function valueSchema(): Schema {
  const whole = objectSchema({ enabled: { $comment: "A parent chart's condition.", type: 'boolean' } });
  for (const { path, type, defaultValue } of documentedValues) {
    const parent = path.slice(0, -1).reduce(below, whole);
    parent.properties[path.at(-1) ?? ''] = typeSchema(type, defaultValue, path.join('.'));
  }
  const shared = Object.keys(below(whole, 'defaults').properties);
  for (const [component, left] of Object.entries(withoutDefaults)) {
    const own = below(whole, component).properties;
    for (const key of shared)
      if (!left.includes(key)) own[key] ??= { $ref: `#/properties/defaults/properties/${key}` };
  }
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $comment: 'Generated from values.yaml by `npx --yes pnpm@12 generate`.',
    title: 'Values of the course-exchange chart',
    ...whole,
    definitions: valueTypes,
  };
}

function objectSchema(properties: Record<string, Schema> = {}): ObjectSchema {
  return { type: 'object', additionalProperties: false, properties };
}

function below(parent: ObjectSchema, key: string): ObjectSchema {
  parent.properties[key] ??= objectSchema() as unknown as Schema;
  return parent.properties[key] as unknown as ObjectSchema;
}

function typeSchema(type: string | undefined, defaultValue: unknown, name: string): Schema {
  const [, minimum, maximum] = /^(\d+)\.\.(\d*)$/.exec(type ?? '') ?? [];
  if (minimum !== undefined)
    return { type: 'integer', minimum: Number(minimum), ...(maximum ? { maximum: Number(maximum) } : {}) };
  if (type?.includes('|')) return { enum: [...new Set([...type.split('|'), defaultValue])] };
  if (type !== undefined && type in valueTypes) return { $ref: `#/definitions/${type}` };
  if (type === undefined && /^(boolean|string)$/.test(typeof defaultValue))
    return { type: typeof defaultValue };
  throw new Error(`values.yaml says no type of ${name} that test/chart/value-types.ts knows`);
}
