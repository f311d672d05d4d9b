// values.schema.json, made from values.yaml: the types that its comments name, else those of the defaults. A `# --`
// comment above a value documents it and all below it, its type in parentheses where the default does not show it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { chart, isMap } from './render.ts';
import { type Schema, valueTypes } from './value-types.ts';

export interface DocumentedValue {
  readonly path: readonly string[];
  readonly type: string | undefined;
  readonly description: string;
  readonly defaultValue: unknown;
}

export interface DocumentedValues {
  readonly values: readonly DocumentedValue[];
  /** Comments without `--` above maps, by the map's path. */
  readonly remarks: ReadonlyMap<string, string>;
  /** Paths of leaves that no comment documents. */
  readonly undocumented: readonly string[];
}

export const valuesText = readFileSync(join(chart, 'values.yaml'), 'utf8');

export function documentedValues(text: string): DocumentedValues {
  const defaults: unknown = parse(text);
  const values: DocumentedValue[] = [];
  const remarks = new Map<string, string>();
  const undocumented: string[] = [];
  const open: { readonly indent: number; readonly key: string; readonly documented: boolean }[] = [];
  for (const { indent, key, comment } of keysOf(text)) {
    while ((open.at(-1)?.indent ?? -1) >= indent) open.pop();
    if (open.at(-1)?.documented) continue;
    const path = [...open.map((parent) => parent.key), key];
    const defaultValue = path.reduce(
      (below: unknown, name) => (isMap(below) ? below[name] : undefined),
      defaults,
    );
    const [, type, description] = comment.match(/^-- (?:\(([^)]+)\) )?([\s\S]*)/) ?? [];
    open.push({ indent, key, documented: description !== undefined });
    if (description !== undefined) values.push({ path, type, description, defaultValue });
    else if (!isMap(defaultValue) || Object.keys(defaultValue).length === 0)
      undocumented.push(path.join('.'));
    else if (comment !== '') remarks.set(path.join('.'), comment);
  }
  return { values, remarks, undocumented };
}

/** Every line with the key of a block, with the comment right above it. */
function keysOf(text: string): readonly { indent: number; key: string; comment: string }[] {
  let comment: string[] = [];
  return text.split('\n').flatMap((line) => {
    const said = line.match(/^\s*# ?(.*)$/);
    if (said) {
      comment.push(said[1] ?? '');
      return [];
    }
    const found = line.match(/^(\s*)([\w.-]+):(\s|$)/);
    const above = comment.join(' ');
    comment = [];
    return found ? [{ indent: found[1]?.length ?? 0, key: found[2] ?? '', comment: above }] : [];
  });
}

/** What `defaults` holds and a component without replicas, or a Job, has no use for. */
const ofReplicated = [
  'minReadySeconds',
  'progressDeadlineSeconds',
  'topologySpreadConstraints',
  'autoscaling',
  'podDisruptionBudget',
];
const ofServing = [
  'preStopSeconds',
  'terminationGracePeriodSeconds',
  'revisionHistoryLimit',
  'probes',
  'deploymentAnnotations',
  'extraContainers',
];

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

/** Throws for a value without a comment, and for a type that nobody knows. */
export function valueSchema(text: string): Schema {
  const { values, undocumented } = documentedValues(text);
  if (undocumented.length > 0) throw new Error(`values.yaml does not document ${undocumented.join(', ')}`);
  const whole = objectSchema({ enabled: { $comment: "A parent chart's condition.", type: 'boolean' } });
  for (const { path, type, defaultValue } of values) {
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
  if (type === undefined) {
    if (typeof defaultValue === 'boolean' || typeof defaultValue === 'string')
      return { type: typeof defaultValue };
    throw new Error(`values.yaml gives no type of ${name}`);
  }
  if (type in valueTypes) return { $ref: `#/definitions/${type}` };
  const range = /^(\d+)\.\.(\d*)$/.exec(type);
  if (range) {
    const maximum = range[2] === '' ? {} : { maximum: Number(range[2]) };
    return { type: 'integer', minimum: Number(range[1]), ...maximum };
  }
  const words = type.split('|');
  if (words.length > 1) return { enum: [...new Set([...words, defaultValue])] };
  throw new Error(
    `values.yaml says that ${name} is "${type}", which test/chart/value-types.ts does not know`,
  );
}

/** Paths of single values: of documented ones, and below those whose type lists its keys. */
export function leafPaths(values: readonly DocumentedValue[]): readonly (readonly string[])[] {
  return values.flatMap(({ path, type, defaultValue }) => {
    const keys = hasKeys(type) ? Object.keys(defaultValue as object) : [];
    return keys.length === 0 ? [path] : keys.map((key) => [...path, key]);
  });
}

/** Paths of maps whose keys the schema lists; the whole is `[]`. */
export function closedPaths(values: readonly DocumentedValue[]): readonly (readonly string[])[] {
  const all = values.flatMap(({ path, type }) => [
    ...path.map((_, at) => path.slice(0, at)),
    ...(hasKeys(type) ? [path] : []),
  ]);
  return [...new Map(all.map((path) => [path.join('.'), path])).values()];
}

function hasKeys(type: string | undefined): boolean {
  return type !== undefined && valueTypes[type]?.properties !== undefined;
}
