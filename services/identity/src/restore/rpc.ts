// RestoreService: translation only.
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  type FenceRequest,
  RestoredStore,
  type RestoreService,
} from '@course-exchange/proto/operator/v1/restore';
import { readTime } from '@course-exchange/runtime/grpc/incoming-call';
import type { Handlers } from '@course-exchange/runtime/grpc/server';
import { DetailedFailure } from '@course-exchange/runtime/process/errors';
import type { AdminContext } from '../admin/context.ts';
import { adminRequest, changeMessages } from '../admin/messages.ts';
import { type AuditedTransaction, endingsOf } from './audit-trail.ts';
import { putUpFence, withoutKnown } from './fence.ts';

export function createRestoreHandlers(context: AdminContext): Handlers<typeof RestoreService> {
  return {
    fence: async (requests, call) => {
      const { asked, trail } = await collect(requests, context);
      if (asked === undefined || asked.restored === RestoredStore.UNSPECIFIED)
        throw new DetailedFailure('invalid_argument', 'What was restored is not said.');
      const { result, changes } = await putUpFence(context, adminRequest(call, asked), {
        store: asked.restored === RestoredStore.REDIS ? 'redis' : 'postgres',
        trail,
        acceptUnknown: asked.acceptUnknown,
      });
      const { usersSignedOut, consentsWithdrawn, unknownSecrets, continuation } = result;
      return {
        usersSignedOut: BigInt(usersSignedOut),
        consentsWithdrawn: BigInt(consentsWithdrawn),
        endedAgain: [...result.endedAgain],
        unknownUsers: [...result.unknownUsers],
        unknownSecrets: unknownSecrets.map(({ clientId, secretId }) => ({ clientId, secretId })),
        changes: changeMessages(changes),
        ...(continuation && {
          continuation: {
            restoredSequence: BigInt(continuation.restored.sequence),
            namedSequence: BigInt(continuation.named),
            ...(continuation.last && {
              firstSequence: BigInt(continuation.last.root + 1),
              lastSequence: BigInt(continuation.last.sequence),
              lastAt: timestampFromMs(continuation.last.at),
            }),
          },
        }),
      };
    },
  };
}

async function collect(requests: AsyncIterable<FenceRequest>, { database, keyedUser }: AdminContext) {
  let asked: FenceRequest | undefined;
  const trail: AuditedTransaction[] = [];
  for await (const request of requests) {
    asked ??= { ...request, transactions: [] };
    if (request.transactions.some(({ at }) => !at))
      throw new DetailedFailure('invalid_argument', 'A line has no time.');
    const lines = request.transactions.map(({ sequence, at, change, ...line }) => ({
      ...line,
      sequence: Number(sequence),
      at: readTime(at) ?? 0,
      endings: change ? endingsOf([change], keyedUser) : line.endings,
    }));
    trail.push(...(await withoutKnown(database, lines)));
  }
  return { asked, trail: trail.length > 0 ? trail : undefined };
}
