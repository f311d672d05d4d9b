// ConductService: translation only.
import { type ConductService, Verdict } from '@course-exchange/proto/operator/v1/conduct';
import { enumKey } from '@course-exchange/rules/enum-key';
import { readTime } from '@course-exchange/runtime/grpc/incoming-call';
import type { Handlers } from '@course-exchange/runtime/grpc/server';
import { timestamps } from '../admin/messages.ts';
import type { ClientContext } from '../clients/view.ts';
import { getConduct } from './counters.ts';

export function createConductHandlers(context: ClientContext): Handlers<typeof ConductService> {
  return {
    getConduct: async ({ clientId, since }) => {
      const { duties, ...requests } = await getConduct(context, clientId, readTime(since));
      return {
        duties: duties.map(({ verdict, breaches, ...duty }) => ({
          ...duty,
          verdict: Verdict[enumKey(verdict)],
          count: BigInt(breaches?.count ?? 0),
          requestId: breaches?.requestId ?? '',
          ...timestamps({ lastAt: breaches?.lastAt }),
        })),
        authorizationRequests: BigInt(requests.authorizationRequests),
        requestsNeverRedeemed: BigInt(requests.requestsNeverRedeemed),
      };
    },
  };
}
