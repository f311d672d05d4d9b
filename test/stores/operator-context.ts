// The operator's side on a real database, as its own role; what its tests share.
import { createHash, randomBytes } from 'node:crypto';
import { DetailedFailure } from '@course-exchange/runtime/process/errors';
import type { AdminRequest, Fields } from '../../services/identity/src/admin/context.ts';
import {
  editClient,
  getClient,
  registerClient,
  setActive,
} from '../../services/identity/src/clients/admin.ts';
import type { DeclaredSet } from '../../services/identity/src/clients/apply.ts';
import { setApproval } from '../../services/identity/src/clients/approval.ts';
import type { ApprovalState } from '../../services/identity/src/clients/client.ts';
import type { ClientRegistration } from '../../services/identity/src/clients/client-registration.ts';
import type { ClientId } from '../../services/identity/src/ids.ts';
import { createFormCheck, createHashingQueue } from '../../services/identity/src/login/password.ts';
import type { OperatorContext } from '../../services/identity/src/operator-port.ts';
import type { ImportRecord } from '../../services/identity/src/users/import-record.ts';
import { keyEncryptionKey } from './identity-grant.ts';
import { type IdentityDatabase, useIdentityDatabase } from './postgres.ts';

export function openOperatorContext(
  { operator }: Pick<IdentityDatabase, 'operator'>,
  over: Partial<OperatorContext> = {},
): OperatorContext {
  return {
    database: operator,
    now: Date.now,
    randomBytes,
    issuer: 'https://id.example',
    environment: 'test',
    approvalByAnother: false,
    algorithms: ['RS256', 'ES256'],
    keyEncryptionKey,
    previousKeyEncryptionKey: undefined,
    pseudonymize: (text) => `hmac:${createHash('sha256').update(text).digest('base64url')}`,
    keyedUser: (sub) => `keyed-${sub}`,
    verifiesForm: createFormCheck(createHashingQueue({ concurrency: 2, waiting: 100 })),
    clearFailedLogins: async () => {},
    onUnversionedApproval: () => {},
    onAudited: () => {},
    observe: () => {},
    ...over,
  };
}

/** The operator's side for the tests of this file, and what many of them do with a client. */
export async function useOperatorContext() {
  const identity = await useIdentityDatabase();
  const context = openOperatorContext(identity);
  const register = (registration = newRegistration()) =>
    registerClient(context, anna, { registration, firstSecret: { expiresIn: null } });
  const approve = (clientId: string, state: ApprovalState, of = context, confirmedVolume?: Fields) =>
    setApproval(of, anna, { clientId, state, note: '', expectedVersion: 0, confirmedVolume });
  const activate = (clientId: string, of = context) =>
    setActive(of, anna, { clientId, active: true, expectedVersion: 0 });
  return {
    identity,
    context,
    register,
    approve,
    activate,
    /** A client that may act in the test environment, with a secret. */
    activeClient: async () => {
      const { client, secret } = (await register()).result;
      const { clientId } = client.registration;
      await approve(clientId, 'test');
      await activate(clientId);
      return { clientId, secret };
    },
  };
}

export const own = 'https://partner.example/callback';
export const other = 'https://partner.example/other';
export const figures = { users: 3, events: 4, designs: 5 };
export const inProduction = (uris: readonly string[]) => ({ redirectUris: { test: [], production: uris } });

/** As `useOperatorContext`, with an installation of the environment production on the same database. */
export async function useProduction() {
  const admin = await useOperatorContext();
  const { identity, approve } = admin;
  const withoutVersion: string[] = [];
  const production = openOperatorContext(identity, {
    environment: 'production',
    onUnversionedApproval: (clientId, actor) => withoutVersion.push(`${actor} ${clientId}`),
  });
  const versionOf = async (clientId: string) => (await getClient(production, clientId)).version;
  const tested = async () => {
    const registration = newRegistration(inProduction([own]));
    await registerClient(production, anna, { registration, firstSecret: undefined });
    await approve(registration.clientId, 'test', production);
    return registration;
  };
  return {
    ...admin,
    production,
    /** Who approved or activated what without a version. */
    withoutVersion,
    versionOf,
    /** A client in the state test. */
    tested,
    approved: async () => {
      const registration = await tested();
      await approve(registration.clientId, 'approved', production, figures);
      return registration;
    },
    edit: async (registration: ClientRegistration, note = '', of = production, request = anna) => {
      const expectedVersion = await versionOf(registration.clientId);
      return editClient(of, request, { registration, expectedVersion, note });
    },
    /** What the audit log has of a client, newest first. */
    entriesOf: async (clientId: string) => {
      const entries = await identity.sql(
        'select actor, action, fields from audit_log where client_id = $1 order by sequence desc',
        [clientId],
      );
      return entries.map(({ actor, action, fields }) => {
        const after = (fields as { field: string; after?: string }[]).map((one) => [one.field, one.after]);
        return { actor, action, ...Object.fromEntries(after) };
      });
    },
  };
}

export const declaredSet = (declarations: DeclaredSet['declarations'], note = ''): DeclaredSet => ({
  declarations,
  deactivateUndeclared: false,
  expectedVersions: new Map(),
  note,
});

export const anna: AdminRequest = { actor: 'local:anna', requestId: 'request-anna', dryRun: false };
export const bert: AdminRequest = { actor: 'local:bert', requestId: 'request-bert', dryRun: false };
export const dry: AdminRequest = { ...anna, dryRun: true };

let count = 0;

export function newRegistration(over: Partial<ClientRegistration> = {}): ClientRegistration {
  count += 1;
  return {
    clientId: `client-${process.pid}-${count}` as ClientId,
    name: `Stall & Weide GmbH ${count}`,
    technicalContact: { name: 'Theo Technik', email: 'theo@partner.example', phone: '+49 30 1' },
    credentialContacts: [{ name: 'Clara Credential', email: 'clara@partner.example', phone: '' }],
    redirectUris: { test: ['https://partner.example/callback'], production: [] },
    scopes: ['openid', 'email'],
    userJourney: 'A rider links the account once.',
    logoutRequirements: 'none',
    unlinkingRequirements: 'tokens are deleted',
    retentionRequirements: '30 days',
    ...over,
  };
}

let line = 0;

export function newImportRecord(over: Partial<ImportRecord> = {}): ImportRecord {
  line += 1;
  return {
    line,
    sub: `imported-${line}`,
    email: `rider${line}@example.org`,
    emailVerified: true,
    name: `Rider ${line}`,
    passwordHash: `$2b$06$${'e'.repeat(53)}`,
    ...over,
  };
}

/** What a refused call says; fails when it succeeds. */
export async function refusalOf(call: Promise<unknown>): Promise<DetailedFailure> {
  const error = await call.then(() => new Error('The call succeeded.')).catch((thrown: unknown) => thrown);
  if (!(error instanceof DetailedFailure)) throw error;
  return error;
}
