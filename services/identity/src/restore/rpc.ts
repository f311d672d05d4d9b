// RestoreService: translation only.
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
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
import { type AuditedTransaction, type Ending, endingsOf } from './audit-trail.ts';
import { putUpFence } from './fence.ts';

export function createRestoreHandlers(context: AdminContext): Handlers<typeof RestoreService> {
  return {
    fence: async (requests, call) => {
      const { sequence } = await readAuditHead(context.database);
      const { asked, trail } = await collect(requests, sequence, context.keyedUser);
      if (asked === undefined || asked.restored === RestoredStore.UNSPECIFIED)
        throw new DetailedFailure('invalid_argument', 'What was restored is not said.');
      const { result, changes } = await putUpFence(context, adminRequest(call, asked), {
        store: asked.restored === RestoredStore.REDIS ? 'redis' : 'postgres',
        trail,
        acceptUnknown: asked.acceptUnknown,
      });
      const { usersSignedOut, consentsWithdrawn, endedAgain, unknownSecrets, continuation } = result;
      return {
        usersSignedOut: BigInt(usersSignedOut),
        consentsWithdrawn: BigInt(consentsWithdrawn),
        endedAgain: [...endedAgain],
        unknownSecrets: unknownSecrets.map(({ clientId, secretId }) => ({ clientId, secretId })),
        changes: changeMessages(changes),
        ...(continuation && {
          continuation: {
            restoredSequence: BigInt(continuation.restored.sequence),
            lastSequence: BigInt(continuation.last.sequence),
            lastAt: timestampFromMs(continuation.last.at),
          },
        }),
      };
    },
  };
}

/** The first message, and the lines from `sequence` on. */
async function collect(
  requests: AsyncIterable<FenceRequest>,
  sequence: number,
  keyedUser: AdminContext['keyedUser'],
) {
  let asked: FenceRequest | undefined;
  let trail: AuditedTransaction[] | undefined;
  for await (const request of requests) {
    asked ??= { ...request, transactions: [] };
    if (request.transactions.length > 0) trail ??= [];
    for (const { at, change, ...line } of request.transactions) {
      if (line.sequence < sequence) continue;
      const endings = change ? endingsOf([change], keyedUser).map(endingOf) : line.endings;
      const time = at === undefined ? 0 : timestampMs(at);
      trail?.push({ ...line, endings, sequence: Number(line.sequence), at: time });
    }
  }
  return { asked, trail };
}

/** `secret.retire secret:<id>` */
function endingOf(text: string): Ending {
  const [action = '', object = ''] = text.split(' ');
  return { action, object };
}
