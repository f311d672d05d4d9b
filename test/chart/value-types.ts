// The types that comments in values.yaml name, as JSON Schema: what a single value may be. What values must be together,
// or in an environment, is said in sentences by the chart's templates/_validate*.tpl.

export type Schema = Readonly<Record<string, unknown>>;

const text = (pattern: string): Schema => ({ type: 'string', pattern });
const listOf = (items: Schema): Schema => ({ type: 'array', items });
const closed = (properties: Readonly<Record<string, Schema>>, required?: readonly string[]): Schema => ({
  type: 'object',
  additionalProperties: false,
  properties,
  ...(required === undefined ? {} : { required }),
});
const type = (name: string): Schema => ({ $ref: `#/definitions/${name}` });
const atLeast = (minimum: number): Schema => ({ type: 'integer', minimum });

const network = '[0-9a-fA-F.:]+/[0-9]{1,3}';
const imagePath = '([A-Za-z0-9.-]+:[0-9]+/)?[a-z0-9]+([._/-]+[a-z0-9]+)*';

export const valueTypes: Readonly<Record<string, Schema>> = {
  age: text('^[1-9][0-9]{0,6}[smhdw]$'),
  contactUrl: text('^((https?://|mailto:).+)?$'),
  countOrPercent: { oneOf: [atLeast(0), text('^[0-9]{1,2}%$')] },
  database: text('^[A-Za-z0-9_-]+$'),
  domain: text('^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$'),
  environmentVariables: listOf(
    closed({ name: text('^[A-Za-z_][A-Za-z0-9_]*$'), value: { type: 'string' }, valueFrom: type('object') }, [
      'name',
    ]),
  ),
  environmentSources: listOf(
    closed({ prefix: { type: 'string' }, configMapRef: type('object'), secretRef: type('object') }),
  ),
  flags: listOf(text('^--')),
  host: text('^[A-Za-z0-9_.-]*$'),
  hostAliases: listOf(
    closed({ ip: { type: 'string' }, hostnames: listOf({ type: 'string' }) }, ['ip', 'hostnames']),
  ),
  hostsWithPorts: listOf(text('^(\\[[0-9a-fA-F:]+\\]|[A-Za-z0-9_.-]+)(:[0-9]+)?$')),
  image: closed({
    repository: text(`^(${imagePath})?$`),
    tag: type('tag'),
    digest: text('^(sha256:[0-9a-f]{64})?$'),
  }),
  issuerRef: closed({ name: { type: 'string' }, kind: { type: 'string' }, group: { type: 'string' } }),
  labels: { type: 'object', additionalProperties: { type: 'string' } },
  named: listOf({ type: 'object', required: ['name'] }),
  names: listOf({ type: 'string', minLength: 1 }),
  networks: listOf(text(`^${network}$`)),
  object: { type: 'object' },
  objects: listOf({ type: 'object' }),
  optionalDuration: text('^([0-9]+(h|m|s|ms))*$'),
  optionalSecretKey: text('^[-._a-zA-Z0-9]*$'),
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
  registry: text('^([A-Za-z0-9.-]+(:[0-9]+)?(/[a-z0-9._/-]+)?)?$'),
  repository: text(`^${imagePath}$`),
  role: closed({
    existingSecret: type('secretName'),
    usernameKey: type('secretKey'),
    passwordKey: type('secretKey'),
    uriKey: type('optionalSecretKey'),
  }),
  scrapeInterval: text('^([1-9][0-9]+s|[1-9][0-9]*m)$'),
  secretKey: text('^[-._a-zA-Z0-9]+$'),
  secretName: text('^([a-z0-9]([a-z0-9.-]*[a-z0-9])?)?$'),
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
