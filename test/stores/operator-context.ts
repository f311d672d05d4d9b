// The operator's side on a real database, as its own role; what its tests share.
import { createHash, randomBytes } from 'node:crypto';
import { DetailedFailure } from '@course-exchange/runtime/process/errors';
import type { AdminContext, AdminRequest, Fields } from '../../services/identity/src/admin/context.ts';
import { registerClient, setActive, setApproval } from '../../services/identity/src/clients/admin.ts';
import type { ApprovalState } from '../../services/identity/src/clients/client.ts';
import type { ClientRegistration } from '../../services/identity/src/clients/client-registration.ts';
import type { ClientId } from '../../services/identity/src/ids.ts';
import { createFormCheck, createHashingQueue } from '../../services/identity/src/login/password.ts';
import type { ImportRecord } from '../../services/identity/src/users/import.ts';
import { keyEncryptionKey } from './identity-grant.ts';
import { type IdentityDatabase, useIdentityDatabase } from './postgres.ts';

export function openAdminContext(
  { operator }: Pick<IdentityDatabase, 'operator'>,
  over: Partial<AdminContext> = {},
): AdminContext {
  return {
    database: operator,
    now: Date.now,
    randomBytes,
    issuer: 'https://id.example',
    environment: 'test',
    algorithms: ['RS256', 'ES256'],
    keyEncryptionKey,
    previousKeyEncryptionKey: undefined,
    pseudonymize: (text) => `hmac:${createHash('sha256').update(text).digest('base64url')}`,
    keyedUser: (sub) => `keyed-${sub}`,
    verifiesForm: createFormCheck(createHashingQueue({ concurrency: 2, waiting: 100 })),
    clearFailedLogins: async () => {},
    onAudited: () => {},
    onSecurityEvent: () => {},
    ...over,
  };
}

/** The operator's side for the tests of this file, and what many of them do with a client. */
export async function useAdminContext() {
  const identity = await useIdentityDatabase();
  const context = openAdminContext(identity);
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
