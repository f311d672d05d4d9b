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

const ipv4 = '((2[0-4]|1[0-9]|[1-9])?[0-9]|25[0-5])(\\.((2[0-4]|1[0-9]|[1-9])?[0-9]|25[0-5])){3}';
const group = '[0-9a-fA-F]{1,4}';
const groups = `(:${group}){0,6}`;
const tail = `((${group}:){0,6}(${group}|${ipv4}))?`;
const ipv6 = `(${group}(:${group}){7}|(${group}${groups})?::${tail})`;
const unlikeIpv4 = `[1-9a-fA-F][0-9a-fA-F]{0,3}((:${group}){7}|${groups}::${tail})`;
/** What the gateway believes. A network whose first group may be 0 could hold all of IPv4. */
const trustedNetworks = [
  `${ipv4}(/([89]|[12][0-9]|3[0-2]))?`,
  ipv6,
  `${unlikeIpv4}/(1[6-9]|[2-9][0-9]|1[01][0-9]|12[0-8])`,
  `${ipv6}/(10[4-9]|11[0-9]|12[0-8])`,
];
const network = '[0-9a-fA-F.:]+/[0-9]{1,3}';
const imagePath = '([A-Za-z0-9.-]+:[0-9]+/)?[a-z0-9]+([._/-]+[a-z0-9]+)*';
const duration = '([0-9]+(h|m|s|ms))';

export const valueTypes: Readonly<Record<string, Schema>> = {
  age: text('^[1-9][0-9]{0,6}[smhdw]$'),
  bytes: text('^[0-9]+[kmg]?$'),
  contactUrl: text('^((https?://|mailto:).+)?$'),
  countOrPercent: { oneOf: [atLeast(0), text('^[0-9]{1,2}%$')] },
  database: text('^[A-Za-z0-9_-]+$'),
  domain: text('^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$'),
  duration: text(`^${duration}+$`),
  environmentVariables: listOf(
    closed({ name: text('^[A-Za-z_][A-Za-z0-9_]*$'), value: { type: 'string' }, valueFrom: type('object') }, [
      'name',
    ]),
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
  never: { enum: [false] },
  object: { type: 'object' },
  objects: listOf({ type: 'object' }),
  optionalDuration: text(`^${duration}*$`),
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
  probe: closed({
    initialDelaySeconds: atLeast(0),
    periodSeconds: atLeast(1),
    timeoutSeconds: atLeast(1),
    failureThreshold: atLeast(1),
    successThreshold: atLeast(1),
    terminationGracePeriodSeconds: atLeast(1),
  }),
  quantities: { type: 'object', additionalProperties: { type: ['string', 'number'] } },
  registry: text('^([A-Za-z0-9.-]+(:[0-9]+)?(/[a-z0-9._/-]+)?)?$'),
  repository: text(`^${imagePath}$`),
  resources: closed({ requests: type('quantities'), limits: type('quantities') }),
  role: closed({
    existingSecret: type('secretName'),
    usernameKey: type('secretKey'),
    passwordKey: type('secretKey'),
    uriKey: type('optionalSecretKey'),
  }),
  schedule: { type: 'string', minLength: 9 },
  secretKey: text('^[-._a-zA-Z0-9]+$'),
  secretName: text('^([a-z0-9]([a-z0-9.-]*[a-z0-9])?)?$'),
  share: { type: 'number', minimum: 0, maximum: 1 },
  trustedNetworks: listOf(text(`^(${trustedNetworks.join('|')})$`)),
  tag: text('^([A-Za-z0-9_][A-Za-z0-9._-]{0,127})?$'),
  text: { type: 'string', minLength: 1 },
  url: text('^(https?://.+)?$'),
};
