// What users agreed to, and its withdrawal: dead at the next exchange or refresh (R13).
import { DetailedFailure } from '@course-exchange/runtime/failure';
import type { UserName } from '../../store/postgres/imported-users.ts';
import { readAccount } from '../../store/postgres/imported-users.ts';
import {
  type ConsentPage,
  listConsents,
  type RecordedConsent,
  withdrawCurrent,
} from '../../store/postgres/recorded-consents.ts';
import { readClient } from '../../store/postgres/registered-clients.ts';
import { carryOut, type Desk, notFound, type Order, type Outcome } from '../desk.ts';
import { getAccount } from '../users/accounts.ts';

export interface ConsentQuestion extends ConsentPage {
  readonly user: UserName | undefined;
  readonly clientId: string | undefined;
}

/** Newest first. Throws `invalid_argument` when neither user nor client is named, `not_found`. */
export async function findConsents(
  desk: Desk,
  { user, clientId, ...page }: ConsentQuestion,
): Promise<readonly RecordedConsent[]> {
  if (user === undefined && clientId === undefined)
    throw new DetailedFailure('invalid_argument', 'Neither a user nor a client is named.');
  const sub = user === undefined ? null : (await getAccount(desk, user)).sub;
  if (clientId !== undefined && (await readClient(desk.database, desk.environment, clientId)) === undefined)
    throw notFound(`client ${clientId}`);
  return listConsents(desk.database, { sub, clientId: clientId ?? null }, page);
}

/** Throws `not_found` when there is no such user or no consent that stands. Atomic. */
export async function withdrawConsent(
  desk: Desk,
  order: Order,
  { user, clientId }: { readonly user: UserName; readonly clientId: string },
): Promise<Outcome<RecordedConsent>> {
  return carryOut(desk, order, async (queries, note) => {
    const account = await readAccount(queries, user);
    const consent = account && (await withdrawCurrent(queries, account.sub, clientId));
    if (consent === undefined) throw notFound(`consent of this user with client ${clientId}`);
    const { sub, consentId, withdrawnAt } = consent;
    note({
      ...{ action: 'consent.withdraw', object: `user:${sub}`, clientId },
      fields: [
        { field: 'consent', before: JSON.stringify(consentId) },
        { field: 'withdrawn_at', after: JSON.stringify(new Date(withdrawnAt ?? 0).toISOString()) },
      ],
    });
    return consent;
  });
}
