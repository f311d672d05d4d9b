// values.schema.json as Helm reads it, walked: every value that it knows, with what is allowed there.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chart, isMap } from './render.ts';
import type { Schema } from './value-types.ts';

export interface ValueNode {
  readonly path: readonly string[];
  /** The name of its type, where values.yaml gives one. */
  readonly type: string;
  readonly schema: Schema;
}

export const shippedSchema = JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8')) as Schema & {
  readonly definitions: Readonly<Record<string, Schema>>;
};

/** Maps before what is in them. What a component takes from `defaults` stands there alone. */
export const valueNodes: readonly ValueNode[] = nodesBelow(shippedSchema, []);

function nodesBelow(found: Schema, path: readonly string[]): readonly ValueNode[] {
  const reference = String(found.$ref ?? '');
  if (reference.startsWith('#/properties/')) return [];
  const type = reference.replace('#/definitions/', '');
  const schema = shippedSchema.definitions[type] ?? found;
  const below = isMap(schema.properties) ? Object.entries(schema.properties) : [];
  return [
    { path, type, schema },
    ...below.flatMap(([key, inner]) => nodesBelow(inner as Schema, [...path, key])),
  ];
}
