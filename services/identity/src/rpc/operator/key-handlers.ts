// KeyService: translation only.
import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  KeyAlgorithm,
  type KeyService,
  KeyState,
  type SigningKeySchema,
} from '@course-exchange/proto/operator/v1/key';
import { actorOf } from '@course-exchange/runtime/caller-name';
import { DetailedFailure } from '@course-exchange/runtime/failure';
import type { Handlers } from '@course-exchange/runtime/rpc-server';
import { nextStepAt, phaseOf } from '../../domain/key-lifecycle.ts';
import { type SigningAlgorithm, signingAlgorithms } from '../../domain/signing-algorithm.ts';
import type { Desk, Outcome } from '../../operator/desk.ts';
import { activateKey, retireKey, stageKey } from '../../operator/keys/change-keys.ts';
import { isCurrentlyEncrypted, readKeys } from '../../operator/keys/read-keys.ts';
import { reencryptKeys } from '../../operator/keys/reencrypt-keys.ts';
import { rotateKeys } from '../../operator/keys/rotate-keys.ts';
import type { SealedKey } from '../../store/postgres/key-records.ts';
import { orderOf } from './caller.ts';
import { changeMessages } from './change-message.ts';
import { optional } from './client-message.ts';
import { durationMs } from './times.ts';

export function createKeyHandlers(desk: Desk): Handlers<typeof KeyService> {
  const shown = ({ result, changes }: Outcome<SealedKey>) => ({
    key: keyMessage(desk, result),
    changes: changeMessages(changes),
  });
  return {
    listKeys: async ({ includeRetired }, call) => {
      actorOf(call);
      const keys = await readKeys(desk, includeRetired);
      return { keys: keys.map((key) => keyMessage(desk, key)) };
    },
    stageKey: async (request, call) => {
      const [algorithm] = readAlgorithms([request.algorithm]);
      if (algorithm === undefined) throw new DetailedFailure('invalid_argument', 'The algorithm is missing.');
      const staged = shown(await stageKey(desk, orderOf(call, request), algorithm));
      return request.dryRun ? withoutKid(staged) : staged;
    },
    activateKey: async (request, call) => shown(await activateKey(desk, orderOf(call, request), request)),
    retireKey: async (request, call) => shown(await retireKey(desk, orderOf(call, request), request)),
    rotateKeys: async (request, call) => {
      const { result, changes } = await rotateKeys(desk, orderOf(call, request), {
        algorithms: readAlgorithms(request.algorithms),
        continueOnly: request.continueOnly,
        olderThan: durationMs(request.olderThan) ?? 0,
      });
      return {
        rotations: result.progress.map(({ algorithm, finished, nextAt }) => ({
          ...{ algorithm: KeyAlgorithm[algorithm], finished },
          ...optional('nextAt', nextAt),
        })),
        keys: result.keys.map((key) => keyMessage(desk, key)),
        changes: changeMessages(changes),
      };
    },
    reencryptKeys: async (request, call) => {
      const { result, changes } = await reencryptKeys(desk, orderOf(call, request));
      return { ...result, changes: changeMessages(changes) };
    },
  };
}

/** The kid of a key that was not made would mislead. */
function withoutKid<K extends { readonly key: MessageInitShape<typeof SigningKeySchema> }>(staged: K): K {
  return { ...staged, key: { ...staged.key, kid: '' } };
}

function readAlgorithms(algorithms: readonly KeyAlgorithm[]): SigningAlgorithm[] {
  return algorithms.flatMap((wire) => signingAlgorithms.filter((one) => KeyAlgorithm[one] === wire));
}

const wireStates = {
  staged: KeyState.STAGED,
  active: KeyState.ACTIVE,
  superseded: KeyState.SUPERSEDED,
  retired: KeyState.RETIRED,
} as const;

function keyMessage(desk: Desk, key: SealedKey): MessageInitShape<typeof SigningKeySchema> {
  const { kid, algorithm, publishedAt, activatedAt, retiredAt, removedAt } = key;
  return {
    ...{ kid, algorithm: KeyAlgorithm[algorithm], state: wireStates[phaseOf(key)] },
    currentEncryption: isCurrentlyEncrypted(desk, key),
    ...optional('publishedAt', publishedAt),
    ...optional('activatedAt', activatedAt),
    ...optional('supersededAt', retiredAt),
    ...optional('retiredAt', removedAt),
    ...optional('nextStepAt', nextStepAt(key)),
  };
}
