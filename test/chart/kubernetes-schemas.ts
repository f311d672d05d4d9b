// Judges objects by the schemas of the API server, unknown fields included.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv, type ValidateFunction } from 'ajv';
import type { KubernetesObject } from './render.ts';

interface Schemas {
  /** The server's version: `v1.34.10`. */
  readonly kubernetes: string;
  /** By `apps/v1 Deployment`. */
  readonly kinds: Readonly<Record<string, object>>;
  readonly definitions: Readonly<Record<string, object>>;
}

const schemas = JSON.parse(
  readFileSync(join(import.meta.dirname, 'schemas/schemas.json'), 'utf8'),
) as Schemas;
const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
const validators = new Map<string, ValidateFunction>();

/** A line for each mistake; one line for a kind without a schema. */
export function schemaErrors(object: KubernetesObject): readonly string[] {
  const kind = `${object.apiVersion} ${object.kind}`;
  const schema = schemas.kinds[kind];
  if (schema === undefined) return [`${kind} has no schema: add it to test/chart/schemas/collect.ts`];
  const validate = validators.get(kind) ?? ajv.compile({ ...schema, definitions: schemas.definitions });
  validators.set(kind, validate);
  const named = `${object.kind}/${object.metadata?.name}`;
  if (validate(object)) return [];
  return (validate.errors ?? []).map(({ instancePath, message, params }) => {
    const unknown = params.additionalProperty === undefined ? '' : ` (${params.additionalProperty})`;
    return `${named}${instancePath} ${message}${unknown}`;
  });
}
