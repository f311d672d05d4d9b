// Judges objects by the schemas of the API server, unknown fields included.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv, type ValidateFunction } from 'ajv';
import { nameOf } from './objects.ts';
import type { KubernetesObject } from './render.ts';

interface Schemas {
  /** By `apps/v1 Deployment`. */
  readonly kinds: Readonly<Record<string, object>>;
  readonly definitions: Readonly<Record<string, object>>;
}

const file = join(import.meta.dirname, 'schemas/schemas.json');
const { kinds, definitions } = JSON.parse(readFileSync(file, 'utf8')) as Schemas;
const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
const validators = new Map<string, ValidateFunction>();

/** A line for each mistake; one line for a kind without a schema. */
export function schemaErrors(object: KubernetesObject): readonly string[] {
  const kind = `${object.apiVersion} ${object.kind}`;
  if (kinds[kind] === undefined) return [`${kind} has no schema: add it to test/chart/schemas/collect.ts`];
  const validate = validators.get(kind) ?? ajv.compile({ ...kinds[kind], definitions });
  validators.set(kind, validate);
  validate(object);
  return (validate.errors ?? []).map(({ instancePath, message, params }) => {
    const unknown = params.additionalProperty === undefined ? '' : ` (${params.additionalProperty})`;
    return `${nameOf(object)}${instancePath} ${message}${unknown}`;
  });
}
