// The operator's side on a real database, as its own role; what its tests share.
import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DetailedFailure } from '@course-exchange/runtime/failure';
import type { Dossier, Environment } from '../../services/identity/src/domain/dossier.ts';
import type { ClientId } from '../../services/identity/src/domain/ids.ts';
import type { Desk, Order } from '../../services/identity/src/operator/desk.ts';
import { type IdentityDatabase, keyEncryptionKey } from './identity-stores.ts';

export function openDesk({ operator }: Pick<IdentityDatabase, 'operator'>, over: Partial<Desk> = {}): Desk {
  return {
    database: operator,
    now: Date.now,
    sleep: (milliseconds) => sleep(milliseconds),
    randomBytes,
    issuer: 'https://id.example',
    environment: 'test' satisfies Environment,
    algorithms: ['RS256', 'ES256'],
    keyEncryptionKey,
    previousKeyEncryptionKey: undefined,
    personal: (text) => `hmac:${createHash('sha256').update(text).digest('base64url')}`,
    onAudited: () => {},
    ...over,
  };
}

export const anna: Order = { actor: 'local:anna', requestId: 'request-anna', dryRun: false };
export const bert: Order = { actor: 'local:bert', requestId: 'request-bert', dryRun: false };
export const dry: Order = { ...anna, dryRun: true };

let count = 0;

export function newDossier(over: Partial<Dossier> = {}): Dossier {
  count += 1;
  return {
    clientId: `client-${process.pid}-${count}` as ClientId,
    name: 'Stall & Weide GmbH',
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

export interface Refused {
  readonly code: string;
  readonly detail: string;
  readonly possibleAt: number | undefined;
}

/** What a refused call says; fails when it succeeds. */
export async function refusalOf(call: Promise<unknown>): Promise<Refused> {
  const error = await call.then(
    () => new Error('The call succeeded.'),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof DetailedFailure)) throw error;
  return { code: error.code, detail: error.detail, possibleAt: error.possibleAt };
}
