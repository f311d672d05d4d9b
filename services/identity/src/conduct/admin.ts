// What operators see of a client's conduct.
import type { AdminContext } from '../admin/context.ts';
import { requireClient } from '../clients/view.ts';
import { type Act, judgeConduct } from './conduct.ts';
import { readConduct } from './conduct-table.ts';

/** `since`: milliseconds since the epoch. Throws `not_found`. */
export async function getConduct(context: AdminContext, clientId: string, since: number | undefined) {
  await requireClient(context.database, context, clientId);
  const totals = await readConduct(context.database, clientId, since ?? null);
  const countOf = (act: Act) => totals.find((total) => total.act === act)?.count ?? 0;
  const authorizationRequests = countOf('authorization_request');
  const requestsNeverRedeemed = Math.max(0, authorizationRequests - countOf('code_redeemed'));
  return { duties: judgeConduct(totals), authorizationRequests, requestsNeverRedeemed };
}
