// KeyService: translation only.
import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  KeyAlgorithm,
  type KeyService,
  KeyState,
  type SigningKeySchema,
} from '@course-exchange/proto/operator/v1/key';
import { enumKey } from '@course-exchange/rules/enum-key';
import type { Handlers } from '@course-exchange/runtime/grpc/server';
import { DetailedFailure } from '@course-exchange/runtime/process/errors';
import type { AdminResult } from '../admin/context.ts';
import { adminRequest, changeMessages, durationMs, timestamps } from '../admin/messages.ts';
import {
  activateKey,
  isCurrentlyEncrypted,
  type KeyContext,
  readKeys,
  reencryptKeys,
  retireKey,
  rotateKeys,
  stageKey,
} from './admin.ts';
import type { StoredKey } from './key-table.ts';
import { nextStepAt, type SigningAlgorithm, signingAlgorithms } from './signing-key.ts';

export function createKeyHandlers(context: KeyContext): Handlers<typeof KeyService> {
  const shown = ({ result, changes }: AdminResult<StoredKey>) => ({
    key: keyMessage(context, result),
    changes: changeMessages(changes),
  });
  return {
    listKeys: async ({ includeRetired }) => {
      const keys = await readKeys(context, includeRetired);
      return { keys: keys.map((key) => keyMessage(context, key)) };
    },
    stageKey: async (request, call) => {
      const [algorithm] = readAlgorithms([request.algorithm]);
      if (algorithm === undefined) throw new DetailedFailure('invalid_argument', 'The algorithm is missing.');
      const staged = shown(await stageKey(context, adminRequest(call, request), algorithm));
      // The kid of a key that was not created would mislead.
      return request.dryRun ? { ...staged, key: { ...staged.key, kid: '' } } : staged;
    },
    activateKey: async (request, call) =>
      shown(await activateKey(context, adminRequest(call, request), request)),
    retireKey: async (request, call) => shown(await retireKey(context, adminRequest(call, request), request)),
    rotateKeys: async (request, call) => {
      const { result, changes } = await rotateKeys(context, adminRequest(call, request), {
        algorithms: readAlgorithms(request.algorithms),
        continueOnly: request.continueOnly,
        olderThan: durationMs(request.olderThan) ?? 0,
      });
      return {
        rotations: result.progress.map(({ algorithm, nextAt }) => ({
          algorithm: KeyAlgorithm[algorithm],
          finished: nextAt === undefined,
          ...timestamps({ nextAt }),
        })),
        keys: result.keys.map((key) => keyMessage(context, key)),
        changes: changeMessages(changes),
      };
    },
    reencryptKeys: async (request, call) => {
      const { result, changes } = await reencryptKeys(context, adminRequest(call, request));
      return { ...result, changes: changeMessages(changes) };
    },
  };
}

function readAlgorithms(algorithms: readonly KeyAlgorithm[]): SigningAlgorithm[] {
  return algorithms.flatMap((wire) => signingAlgorithms.filter((one) => KeyAlgorithm[one] === wire));
}

function keyMessage(context: KeyContext, key: StoredKey): MessageInitShape<typeof SigningKeySchema> {
  const { kid, algorithm, state, publishedAt, activatedAt, supersededAt, retiredAt } = key;
  return {
    kid,
    algorithm: KeyAlgorithm[algorithm],
    state: KeyState[enumKey(state)],
    currentEncryption: isCurrentlyEncrypted(context, key),
    ...timestamps({ publishedAt, activatedAt, supersededAt, retiredAt, nextStepAt: nextStepAt(key) }),
  };
}
