// RestoreService: translation only.
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Change } from '@course-exchange/proto/operator/v1/change';
import {
  type FenceRequest,
  RestoredStore,
  type RestoreService,
  type AuditedTransaction as WireLine,
} from '@course-exchange/proto/operator/v1/restore';
import { entryHash } from '@course-exchange/runtime/audit/table';
import { readTime } from '@course-exchange/runtime/grpc/incoming-call';
import type { Handlers } from '@course-exchange/runtime/grpc/server';
import { DetailedFailure } from '@course-exchange/runtime/process/errors';
import { adminRequest, changeMessages } from '../admin/messages.ts';
import { type AuditedTransaction, endingsOf } from './audit-trail.ts';
import { type FenceContext, putUpFence, withoutKnown } from './fence.ts';

/** At most, of those that are counted. */
const namedLines = 20;

export function createRestoreHandlers(context: FenceContext): Handlers<typeof RestoreService> {
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
            provenEntries: BigInt(continuation.provenEntries),
            unprovenLines: BigInt(continuation.unproven.length),
            unprovenSequences: continuation.unproven.slice(0, namedLines).map(BigInt),
          },
        }),
      };
    },
  };
}

async function collect(requests: AsyncIterable<FenceRequest>, { database, keyedUser }: FenceContext) {
  let asked: FenceRequest | undefined;
  const trail: AuditedTransaction[] = [];
  for await (const request of requests) {
    asked ??= { ...request, transactions: [] };
    const lines = request.transactions.map((line) => readLine(line, keyedUser));
    trail.push(...(await withoutKnown(database, lines)));
  }
  return { asked, trail: trail.length > 0 ? trail : undefined };
}

/** Throws `invalid_argument` for an entry that does not have its hash. */
function readLine(line: WireLine, keyedUser: FenceContext['keyedUser']): AuditedTransaction {
  const at = readTime(line.at);
  if (at === undefined) throw new DetailedFailure('invalid_argument', 'A line has no time.');
  const { hash, previous, change } = line;
  const sequence = Number(line.sequence);
  const endings = change ? endingsOf([change], keyedUser) : line.endings;
  // Neither a log line nor an entry from the previous partnerctl has all that the hash covers.
  const isProven = change !== undefined && line.actor !== '';
  if (isProven && hash !== hashOf(line, change, new Date(at).toISOString()))
    throw new DetailedFailure(
      'invalid_argument',
      `Entry ${sequence} does not have the hash of its content: it was changed after it was written.`,
    );
  return { sequence, hash, previous, at, endings, isProven };
}

function hashOf({ sequence, previous, actor, requestId, clientId }: WireLine, change: Change, at: string) {
  const fields = change.fields.map(({ field, before, after }) => ({
    field,
    ...(before === '' ? {} : { before }),
    ...(after === '' ? {} : { after }),
  }));
  const { action, object } = change;
  const changed = { action, object, fields, ...(clientId === '' ? {} : { clientId }) };
  return entryHash(previous, Number(sequence), { actor, requestId, at }, changed);
}
