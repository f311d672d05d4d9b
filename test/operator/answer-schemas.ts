// JSON Schemas of partnerctl's answers under --json: what scripts may rely on. Fields may be added, never taken away.

type Schema = Readonly<Record<string, unknown>>;

const text = { type: 'string' };
const maybeText = { type: ['string', 'null'] };
const time = { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' };
const maybeTime = { anyOf: [time, { type: 'null' }] };
const flag = { type: 'boolean' };
const count = { type: 'integer', minimum: 0 };

function object(properties: Readonly<Record<string, Schema>>): Schema {
  return { type: 'object', properties, required: Object.keys(properties) };
}
function list(items: Schema): Schema {
  return { type: 'array', items };
}

/** Texts of these names, and other fields. */
function texts(names: string, others: Readonly<Record<string, Schema>> = {}): Schema {
  return object({ ...Object.fromEntries(names.split(' ').map((name) => [name, text])), ...others });
}

const contact = texts('name email phone');
const requirements = 'logoutRequirements unlinkingRequirements retentionRequirements';
const registration = texts(`clientId name userJourney ${requirements}`, {
  technicalContact: { anyOf: [contact, { type: 'null' }] },
  credentialContacts: list(contact),
  environments: list(object({ environment: { enum: ['test', 'production'] }, redirectUris: list(text) })),
  scopes: list({ enum: ['openid', 'profile', 'email'] }),
});
const secret = object({
  secretId: text,
  state: { enum: ['valid', 'near_expiry', 'expired', 'suspended', 'retired'] },
  createdAt: time,
  expiresAt: maybeTime,
  lastUsedAt: maybeTime,
});
const state = { enum: ['draft', 'test', 'approved'] };
const client = object({
  registration,
  active: flag,
  approvalState: state,
  approvals: list(object({ state, by: text, at: time, note: text })),
  version: count,
  secrets: list(secret),
  registrationGaps: list(text),
  warnings: list(text),
});
const change = texts('action object', { fields: list(texts('field', { before: {}, after: {} })) });
const key = object({
  kid: text,
  algorithm: { enum: ['ES256', 'RS256'] },
  state: { enum: ['staged', 'active', 'superseded', 'retired'] },
  nextStepAt: maybeTime,
  currentEncryption: flag,
});
const distribution = object({ median: count, p95: count, p99: count, largest: count });
const user = texts('sub email passwordAlgorithm userHash', { disabledAt: maybeTime });
const entry = texts('actor requestId hash', { sequence: count, at: time, change });
const head = texts('hash', { sequence: count });

export const schemas = {
  result: object({ dryRun: flag, changes: list(change) }),
  registered: object({ dryRun: flag, client, changes: list(change) }),
  clients: object({ clients: list(client) }),
  client: object({ client }),
  secrets: object({ secrets: list(secret) }),
  export: object({ file: maybeText, clients: list(object({ registration, approvalState: state })) }),
  plan: object({ dryRun: flag, clients: list(texts('clientId action', { changes: list(change) })) }),
  user: object({ user }),
  consents: object({ consents: list(texts('consentId sub clientId')) }),
  keys: object({ keys: list(key) }),
  audit: object({ entries: list(entry), more: flag }),
  appended: object({ appended: count }),
  refusals: object({
    refusals: list(texts('requestId endpoint code reason sentence', { at: time })),
    more: flag,
  }),
  verified: object({ intact: flag, entries: count, head, firstBreak: {} }),
  fence: object({
    dryRun: flag,
    changes: list(change),
    usersSignedOut: count,
    consentsWithdrawn: count,
    endedAgain: list(text),
    unknownSecrets: list(texts('clientId secretId')),
    continuation: {},
  }),
  recount: object({ owners: count, events: count, differences: list({ type: 'object' }) }),
  volume: object({
    ...{ users: count, events: count, designs: count },
    ...{ eventsPerUser: distribution, designsPerEvent: distribution },
    ...{ eventsOver500: count, designsNeverSeen: count },
    longestList: object({ events: count, bytes: count, milliseconds: count }),
  }),
  conduct: object({
    clientId: text,
    duties: list(texts('duty section', { verdict: { enum: ['kept', 'broken', 'not_seen', 'not_visible'] } })),
  }),
  status: object({
    issuer: text,
    environment: { enum: ['test', 'production'] },
    actor: text,
    catalogAnswers: { type: ['boolean', 'null'] },
    clients: object({ all: count, active: count }),
    keys: list(key),
    warnings: list(object({ clientId: text, warning: text })),
  }),
  error: object({
    error: texts('code message', { mistakes: list(text), advice: maybeText, exitCode: count }),
  }),
} as const;
