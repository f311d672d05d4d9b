// values.schema.json, made from values.yaml: the types that its comments name, else those of the defaults. A `# --`
// comment above a value documents it and all below it, its type in parentheses where the default does not show it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseDocument, type Scalar, YAMLMap } from 'yaml';
import { chart, isMap, valuesOf } from './render.ts';

/** Values that went, by path, with what takes their place: a template says it, so the schema lets them pass. */
export const went = valuesOf('went.yaml') as Readonly<Record<string, string>>;

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

/** Throws for a value that no comment documents. */
function read(map: YAMLMap, above: readonly string[]): void {
  const defaults = map.toJS(document);
  for (const [at, { key, value }] of map.items.entries()) {
    const { value: name, commentBefore } = key as Scalar<string>;
    const path = [...above, name];
    // A map has the comment of its first key. What an empty line parts from the key is of all that follow.
    const said = (at === 0 ? map.commentBefore : undefined) ?? commentBefore ?? '';
    const comment = (said.split('\n\n').at(-1) ?? '').replaceAll(/^ | *(\n) /g, (_, end) => (end ? ' ' : ''));
    const [, type, description] = /^-- (?:\(([^)]+)\) )?(.*)/.exec(comment) ?? [];
    const defaultValue: unknown = defaults[name];
    if (description !== undefined) documentedValues.push({ path, type, description, defaultValue });
    else if (!(value instanceof YAMLMap) || value.items.length === 0)
      throw new Error(`values.yaml does not document ${path.join('.')}`);
    else {
      if (comment !== '') remarks.set(path.join('.'), comment);
      read(value, path);
    }
  }
}

/** What `defaults` holds and a component without replicas, or a Job, has no use for. */
const ofReplicated = ['replicas', 'topologySpreadConstraints', 'autoscaling', 'podDisruptionBudget'];
const ofServing = ['preStopSeconds', 'deploymentAnnotations', 'extraContainers'];

/** By component: which of `defaults` may not stand under it. */
export const withoutDefaults: Readonly<Record<string, readonly string[]>> = {
  gateway: [],
  identity: [],
  designCatalog: [],
  demoPartner: ofReplicated,
  migrations: [...ofReplicated, ...ofServing],
  tests: [...ofReplicated, ...ofServing],
};

/** Throws for an unknown type. */
export function valueSchema(): Schema {
  const whole = closed({ enabled: { $comment: "A parent chart's condition.", type: 'boolean' } });
  for (const { path, type, defaultValue } of documentedValues) {
    const parent = path.slice(0, -1).reduce(below, whole);
    parent.properties[path.at(-1) ?? ''] = typeSchema(type, defaultValue, path.join('.'));
  }
  for (const path of Object.keys(went).map((name) => name.split('.')))
    path.slice(0, -1).reduce(below, whole).properties[path.at(-1) ?? ''] = {};
  const values: Record<string, unknown> = document.toJS();
  const overrides = withDefaults(below(whole, 'defaults'), values.defaults, false) as ObjectSchema;
  const required = withDefaults(whole, values, true) as ObjectSchema;
  for (const [component, left] of Object.entries(withoutDefaults)) {
    const own = below(required, component).properties;
    for (const key of Object.keys(overrides.properties))
      if (!left.includes(key)) own[key] ??= { $ref: `#/definitions/overrides/properties/${key}` };
  }
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $comment: 'Generated from values.yaml by `npx --yes pnpm@12 generate`.',
    title: 'Values of the course-exchange chart',
    ...required,
    definitions: { ...valueTypes, overrides },
  };
}

/** Keys that null may remove: a platform such as OpenShift chooses users and groups, and a sidecar looks for a label of any name. */
export const removable = ['runAsUser', 'runAsGroup', 'fsGroup', 'fsGroupChangePolicy', 'grafana_dashboard'];

const untyped: Schema = {};

/** With the type of each default and, if `areRequired`, its presence: Helm drops a default that is null before it validates. */
function withDefaults(schema: Schema, defaults: unknown, areRequired: boolean): Schema {
  const own = isMap(defaults) ? Object.entries(defaults).filter(([key]) => !removable.includes(key)) : [];
  if (own.length === 0)
    return schema === untyped ? { type: Array.isArray(defaults) ? 'array' : typeof defaults } : schema;
  const known = valueTypes[String(schema.$ref).replace('#/definitions/', '')] ?? schema;
  const { properties, additionalProperties: other } = known as Partial<ObjectSchema>;
  const nested = own.map(([key, value]) => {
    const inner = properties?.[key] ?? (isMap(other) ? other : untyped);
    return [key, withDefaults(inner, value, areRequired)];
  });
  return {
    type: 'object',
    ...known,
    properties: { ...properties, ...Object.fromEntries(nested) },
    ...(areRequired ? { required: own.map(([key]) => key) } : {}),
  };
}

function below(parent: ObjectSchema, key: string): ObjectSchema {
  parent.properties[key] ??= closed({});
  return parent.properties[key] as ObjectSchema;
}

function typeSchema(type: string | undefined, defaultValue: unknown, name: string): Schema {
  const [, minimum, maximum] = /^(\d+)\.\.(\d*)$/.exec(type ?? '') ?? [];
  if (minimum !== undefined)
    return { type: 'integer', minimum: Number(minimum), ...(maximum ? { maximum: Number(maximum) } : {}) };
  if (type?.includes('|')) return { enum: [...new Set([...type.split('|'), defaultValue])] };
  if (type !== undefined && type in valueTypes) return { $ref: `#/definitions/${type}` };
  if (type === undefined && /^(boolean|string)$/.test(typeof defaultValue))
    return { type: typeof defaultValue };
  throw new Error(`values.yaml says no type of ${name} that test/chart/value-schema.ts knows`);
}

export type Schema = Readonly<Record<string, unknown>>;

const text = (pattern: string): Schema => ({ type: 'string', pattern });
const listOf = (items: Schema): Schema => ({ type: 'array', items });
type ObjectSchema = Schema & { readonly properties: Record<string, Schema> };
const closed = (properties: Record<string, Schema>, required?: readonly string[]): ObjectSchema => ({
  type: 'object',
  additionalProperties: false,
  properties,
  ...(required === undefined ? {} : { required }),
});
const strings: Schema = { type: 'object', additionalProperties: { type: 'string' } };
const type = (name: string): Schema => ({ $ref: `#/definitions/${name}` });
const atLeast = (minimum: number): Schema => ({ type: 'integer', minimum });

const network = '[0-9a-fA-F.:]+/[0-9]{1,3}';
const authority = '[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]+)?';
const label =
  '^(app[.]kubernetes[.]io/(name|instance|component|part-of|version|managed-by)|helm[.]sh/chart)$';
const digest = text('^sha256:[0-9a-f]{64}$');
const imageNames = ['gateway', 'identity', 'design-catalog', 'migrations', 'demo-partner', 'contract-tests'];
const imagePath = '([A-Za-z0-9.-]+:[0-9]+/)?[a-z0-9]+([._/-]+[a-z0-9]+)*';

export const valueTypes: Readonly<Record<string, Schema>> = {
  age: text('^[1-9][0-9]{0,6}[smhdw]$'),
  budget: closed({
    enabled: { type: 'boolean' },
    minAvailable: type('countOrPercent'),
    maxUnavailable: type('countOrPercent'),
  }),
  countOrPercent: { oneOf: [atLeast(0), text('^[0-9]{1,2}%$')] },
  database: text('^[A-Za-z0-9_-]+$'),
  digests: closed(Object.fromEntries(imageNames.map((name) => [name, digest]))),
  domain: text('^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$'),
  environmentVariables: listOf(
    closed({ name: text('^[A-Za-z_][A-Za-z0-9_]*$'), value: { type: 'string' }, valueFrom: type('object') }, [
      'name',
    ]),
  ),
  /** A client that follows a redirect has already sent its secret by http (R28.5). */
  filters: listOf({
    type: 'object',
    required: ['type'],
    properties: { type: { not: { const: 'RequestRedirect' } } },
  }),
  flags: listOf(text('^--')),
  host: text('^[A-Za-z0-9_.-]*$'),
  hostAliases: listOf(
    closed({ ip: { type: 'string' }, hostnames: listOf({ type: 'string' }) }, ['ip', 'hostnames']),
  ),
  hostsWithPorts: listOf(text('^(\\[[0-9a-fA-F:]+\\]|[A-Za-z0-9_.-]+)(:[0-9]+)?$')),
  httpsOrigin: text(`^(https://${authority})?$`),
  ingressAnnotations: {
    ...strings,
    properties: Object.fromEntries(
      ['ssl-redirect', 'force-ssl-redirect'].map((name) => [
        `nginx.ingress.kubernetes.io/${name}`,
        { const: 'false' },
      ]),
    ),
  },
  issuerRef: {
    ...closed({
      name: { type: 'string', minLength: 1 },
      kind: { type: 'string' },
      group: { type: 'string' },
    }),
    dependencies: { kind: ['name'], group: ['name'] },
  },
  labels: strings,
  named: listOf({ type: 'object', required: ['name'] }),
  names: listOf({ type: 'string', minLength: 1 }),
  networks: listOf(text(`^${network}$`)),
  object: { type: 'object' },
  objects: listOf({ type: 'object' }),
  optionalSecretKey: text('^[-._a-zA-Z0-9]*$'),
  /** The programs refuse a default port, which no browser sends. */
  origin: { ...text(`^(https?://${authority})?$`), not: { pattern: '^(https://.*:443|http://.*:80)$' } },
  /** A label of the chart's would break a selector. */
  ownLabels: { ...strings, propertyNames: { not: { pattern: label } } },
  peers: listOf(
    closed({
      podSelector: type('object'),
      namespaceSelector: type('object'),
      ipBlock: closed({ cidr: text(`^${network}$`), except: listOf({ type: 'string' }) }, ['cidr']),
    }),
  ),
  port: { type: 'integer', minimum: 1, maximum: 65_535 },
  ports: { ...listOf(type('port')), minItems: 1 },
  portsOrNone: listOf(type('port')),
  quantities: { type: 'object', additionalProperties: { type: ['string', 'number'] } },
  repository: text(`^${imagePath}$`),
  /** A login may take 10 seconds (R14.5). */
  requestTimeout: text('^(0s|(1[1-9]|[2-9][0-9]|[1-9][0-9]{2,})s|([1-9][0-9]*[hm]){1,2}([0-9]+s)?)?$'),
  resources: closed({ requests: type('quantities'), limits: type('quantities') }),
  role: closed({
    existingSecret: type('secretName'),
    usernameKey: type('secretKey'),
    passwordKey: type('secretKey'),
  }),
  secretAndKey: closed({ name: type('secretName'), key: type('secretKey') }),
  secretKey: text('^[-._a-zA-Z0-9]+$'),
  secretName: text('^([a-z0-9]([a-z0-9.-]*[a-z0-9])?)?$'),
  service: closed({
    type: { enum: ['ClusterIP', 'NodePort', 'LoadBalancer'] },
    annotations: type('labels'),
    ipFamilyPolicy: { enum: ['SingleStack', 'PreferDualStack', 'RequireDualStack'] },
    ipFamilies: { ...listOf({ enum: ['IPv4', 'IPv6'] }), minItems: 1, maxItems: 2 },
    trafficDistribution: { enum: ['PreferClose', 'PreferSameZone', 'PreferSameNode'] },
    externalTrafficPolicy: { enum: ['Cluster', 'Local'] },
    loadBalancerClass: { type: 'string', minLength: 1 },
    loadBalancerSourceRanges: { ...type('networks') },
  }),
  share: { type: 'number', minimum: 0, maximum: 1 },
  /** As the gateway takes them: no IPv4 network wider than /8, no IPv6 network wider than /16 or that may hold all of IPv4. */
  trustedNetworks: listOf(
    text(
      '^(([0-9]{1,3}[.]){3}[0-9]{1,3}(/([89]|[12][0-9]|3[0-2]))?|::1|[1-9a-fA-F][0-9a-fA-F]{0,3}:[0-9a-fA-F:]+(/(1[6-9]|[2-9][0-9]|1[01][0-9]|12[0-8]))?)$',
    ),
  ),
  tag: text('^([A-Za-z0-9_][A-Za-z0-9._-]{0,127})?$'),
  url: text('^(https?://.+)?$'),
};
