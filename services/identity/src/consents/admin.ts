// Operators' actions on consents.
import { DetailedFailure } from '@course-exchange/runtime/process/errors';
import {
  type AdminAction,
  type AdminContext,
  auditedTransaction,
  fieldChanges,
  notFound,
  timeText,
} from '../admin/context.ts';
import { findClient } from '../clients/client-table.ts';
import type { RequestLog } from '../request-log.ts';
import { getAccount, requireAccount } from '../users/admin.ts';
import type { UserName } from '../users/user.ts';
import type { ConsentRecord } from './consent.ts';
import { type ConsentPage, listConsents, withdrawCurrent } from './consent-table.ts';

export type ConsentContext = AdminContext & Pick<RequestLog, 'observe'>;

export interface ConsentFilter extends ConsentPage {
  readonly user: UserName | undefined;
  readonly clientId: string | undefined;
}

/** Newest first. Throws `invalid_argument` without user and client, `not_found`. */
export async function findConsents(
  context: Pick<AdminContext, 'database'>,
  { user, clientId, ...page }: ConsentFilter,
): Promise<readonly ConsentRecord[]> {
  if (user === undefined && clientId === undefined)
    throw new DetailedFailure('invalid_argument', 'Neither a user nor a client is named.');
  const sub = user === undefined ? null : (await getAccount(context, user)).sub;
  if (clientId !== undefined && (await findClient(context.database, clientId)) === undefined)
    throw notFound(`client ${clientId}`);
  return listConsents(context.database, { sub, clientId: clientId ?? null }, page);
}

/** Throws `not_found`. Atomic. */
export const withdrawConsent: AdminAction<
  { readonly user: UserName; readonly clientId: string },
  ConsentRecord,
  ConsentContext
> = async (context, request, { user, clientId }) => {
  const withdrawn = await auditedTransaction(context, request, async ({ queries, recordChange }) => {
    const account = await requireAccount(queries, user);
    const consent = await withdrawCurrent(queries, account.sub, clientId);
    if (consent === undefined) throw notFound(`consent of this user with client ${clientId}`);
    const { sub, consentId, withdrawnAt } = consent;
    recordChange({
      action: 'consent.withdraw',
      object: `user:${sub}`,
      clientId,
      fields: fieldChanges(
        { consent: consentId },
        { consent: undefined, withdrawn_at: timeText(withdrawnAt) },
      ),
    });
    return consent;
  });
  const { sub, clientId: client } = withdrawn.result;
  if (!request.dryRun) context.observe({ event: 'consent.withdrawn', client, sub });
  return withdrawn;
};
