// partnerctl's answers under --json: what scripts may rely on. Fields may be added, never taken away.
import { z } from 'zod';

const text = z.string();
const maybeText = text.nullable();
const time = z.iso.datetime({ precision: 3 });
const maybeTime = time.nullable();
const flag = z.boolean();
const count = z.int().nonnegative();

/** Texts of these names, and other fields. */
const texts = (names: string, others: z.ZodRawShape = {}) =>
  z.object({ ...Object.fromEntries(names.split(' ').map((name) => [name, text])), ...others });

const contact = texts('name email phone');
const requirements = 'logoutRequirements unlinkingRequirements retentionRequirements';
const registration = texts(`clientId name userJourney ${requirements}`, {
  technicalContact: contact.nullable(),
  credentialContacts: z.array(contact),
  environments: z.array(
    z.object({ environment: z.enum(['test', 'production']), redirectUris: z.array(text) }),
  ),
  scopes: z.array(z.enum(['openid', 'profile', 'email'])),
});
const secret = z.object({
  secretId: text,
  state: z.enum(['valid', 'near_expiry', 'expired', 'suspended', 'retired']),
  createdAt: time,
  expiresAt: maybeTime,
  lastUsedAt: maybeTime,
});
const state = z.enum(['draft', 'test', 'approved']);
const client = z.object({
  registration,
  active: flag,
  approvalState: state,
  approvals: z.array(z.object({ state, by: text, at: time, note: text })),
  version: count,
  secrets: z.array(secret),
  registrationGaps: z.array(text),
  warnings: z.array(text),
  contactsWithheld: flag,
});
const change = texts('action object', {
  fields: z.array(texts('field', { before: z.json(), after: z.json() })),
});
const key = z.object({
  kid: text,
  algorithm: z.enum(['ES256', 'RS256']),
  state: z.enum(['staged', 'active', 'superseded', 'retired']),
  nextStepAt: maybeTime,
  currentEncryption: flag,
});
const distribution = z.object({ median: count, p95: count, p99: count, largest: count });
const user = texts('sub email passwordAlgorithm userHash', { disabledAt: maybeTime });
const entry = texts('actor requestId hash', { sequence: count, at: time, change });
const head = texts('hash', { sequence: count });

export const schemas = {
  result: z.object({ dryRun: flag, changes: z.array(change) }),
  registered: z.object({ dryRun: flag, client, changes: z.array(change) }),
  clients: z.object({ clients: z.array(client) }),
  client: z.object({ client }),
  secrets: z.object({ secrets: z.array(secret) }),
  export: z.object({ file: maybeText, clients: z.array(z.object({ registration, approvalState: state })) }),
  plan: z.object({ dryRun: flag, clients: z.array(texts('clientId action', { changes: z.array(change) })) }),
  user: z.object({ user }),
  refolded: z.object({ dryRun: flag, examined: count, refolded: count, shared: z.array(z.array(text)) }),
  consents: z.object({ consents: z.array(texts('consentId sub clientId')) }),
  keys: z.object({ keys: z.array(key) }),
  audit: z.object({ entries: z.array(entry), more: flag }),
  appended: z.object({ appended: count }),
  refusals: z.object({
    refusals: z.array(texts('requestId endpoint code reason sentence', { at: time })),
    more: flag,
  }),
  verified: z.object({ intact: flag, entries: count, head, firstBreak: z.json() }),
  fence: z.object({
    dryRun: flag,
    changes: z.array(change),
    usersSignedOut: count,
    consentsWithdrawn: count,
    endedAgain: z.array(text),
    unknownSecrets: z.array(texts('clientId secretId')),
    unknownUsers: z.array(text),
    continuation: z.json(),
  }),
  recount: z.object({ owners: count, events: count, differences: z.array(z.looseObject({})) }),
  volume: z.object({
    ...{ users: count, events: count, designs: count },
    ...{ eventsPerUser: distribution, designsPerEvent: distribution },
    ...{ eventsOver500: count, designsNeverSeen: count },
    longestList: z.object({ events: count, bytes: count, milliseconds: count }),
  }),
  conduct: z.object({
    clientId: text,
    duties: z.array(
      texts('duty section', { verdict: z.enum(['kept', 'broken', 'not_seen', 'not_visible']) }),
    ),
  }),
  status: z.object({
    issuer: text,
    environment: z.enum(['test', 'production']),
    actor: text,
    catalogAnswers: flag.nullable(),
    clients: z.object({ all: count, active: count }),
    keys: z.array(key),
    warnings: z.array(z.object({ clientId: text, warning: text })),
  }),
  error: z.object({
    error: texts('code message', {
      mistakes: z.array(text),
      advice: maybeText,
      requestId: maybeText,
      exitCode: count,
    }),
  }),
} as const;
