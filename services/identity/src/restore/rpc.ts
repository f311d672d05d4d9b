// RestoreService: translation only.
import { timestampMs } from '@bufbuild/protobuf/wkt';
import {
  type FenceRequest,
  RestoredStore,
  type RestoreService,
} from '@course-exchange/proto/operator/v1/restore';
import { readAuditHead } from '@course-exchange/runtime/audit/table';
import type { Handlers } from '@course-exchange/runtime/grpc/server';
import { DetailedFailure } from '@course-exchange/runtime/process/errors';
import type { AdminContext } from '../admin/context.ts';
import { adminRequest, changeMessages } from '../admin/messages.ts';
import type { AuditedTransaction } from './audit-trail.ts';
import { putUpFence } from './fence.ts';

export function createRestoreHandlers(context: AdminContext): Handlers<typeof RestoreService> {
  return {
    fence: async (requests, call) => {
      const { sequence } = await readAuditHead(context.database);
      const { asked, trail } = await collect(requests, sequence);
      if (asked === undefined || asked.restored === RestoredStore.UNSPECIFIED)
        throw new DetailedFailure('invalid_argument', 'What was restored is not said.');
      const { result, changes } = await putUpFence(context, adminRequest(call, asked), {
        store: asked.restored === RestoredStore.REDIS ? 'redis' : 'postgres',
        trail,
        acceptUnknown: asked.acceptUnknown,
      });
      const { usersSignedOut, consentsWithdrawn, endedAgain, unknownSecrets } = result;
      return {
        usersSignedOut: BigInt(usersSignedOut),
        consentsWithdrawn: BigInt(consentsWithdrawn),
        endedAgain: [...endedAgain],
        unknownSecrets: unknownSecrets.map(({ clientId, secretId }) => ({ clientId, secretId })),
        changes: changeMessages(changes),
      };
    },
  };
}

/** The first message, and the lines from `sequence` on. */
async function collect(requests: AsyncIterable<FenceRequest>, sequence: number) {
  let asked: FenceRequest | undefined;
  let trail: AuditedTransaction[] | undefined;
  for await (const request of requests) {
    asked ??= { ...request, transactions: [] };
    if (request.transactions.length > 0) trail ??= [];
    for (const { at, ...line } of request.transactions)
      if (line.sequence >= sequence)
        trail?.push({ ...line, sequence: Number(line.sequence), at: at === undefined ? 0 : timestampMs(at) });
  }
  return { asked, trail };
}
