// A whole rotation: stage, wait, activate, wait, retire. Each call does what is due, so that a job may be killed at
// any point, and run twice at once.
import {
  type AdminAction,
  type AdminTransaction,
  auditedTransaction,
  requireNoProblem,
} from '../admin/context.ts';
import { activate, publish, retire } from './admin.ts';
import { listKeys, lockKeys, readClock, type StoredKey } from './key-table.ts';
import { nextStepAt, type SigningAlgorithm } from './signing-key.ts';

export interface Rotation {
  /** Empty: all of the installation's. */
  readonly algorithms: readonly SigningAlgorithm[];
  readonly continueOnly: boolean;
  readonly olderThan: number;
}

export interface RotationStatus {
  /** `nextAt`: milliseconds since the epoch; undefined when finished. */
  readonly progress: readonly { readonly algorithm: SigningAlgorithm; readonly nextAt: number | undefined }[];
  /** Not retired, newest first. */
  readonly keys: readonly StoredKey[];
}

/** Throws `invalid_argument` for an algorithm that is not in use. Atomic. */
export const rotateKeys: AdminAction<Rotation, RotationStatus> = async (context, request, rotation) => {
  const unused = rotation.algorithms.filter((algorithm) => !context.algorithms.includes(algorithm));
  requireNoProblem(unused.map((algorithm) => `This installation does not sign with ${algorithm}.`));
  const algorithms = new Set(rotation.algorithms.length > 0 ? rotation.algorithms : context.algorithms);
  return auditedTransaction(context, request, async (transaction) => {
    await lockKeys(transaction.queries);
    for (const algorithm of algorithms) await doWhatIsDue(transaction, algorithm, rotation);
    const keys = (await listKeys(transaction.queries)).filter(({ state }) => state !== 'retired');
    const progress = [...algorithms].map((algorithm) => ({ algorithm, nextAt: nextAt(keys, algorithm) }));
    return { keys, progress };
  });
};

async function doWhatIsDue(
  transaction: AdminTransaction,
  algorithm: SigningAlgorithm,
  { continueOnly, olderThan }: Rotation,
): Promise<void> {
  const now = await readClock(transaction.queries);
  const keys = (await listKeys(transaction.queries)).filter((key) => key.algorithm === algorithm);
  const isDue = (key: StoredKey) => (nextStepAt(key) ?? Number.POSITIVE_INFINITY) <= now;
  const staged = keys.find(({ state }) => state === 'staged');
  const superseded = keys.filter(({ state }) => state === 'superseded');
  for (const key of superseded.filter(isDue)) await retire(transaction, key);
  if (staged && isDue(staged)) await activate(transaction, staged, keys);
  // Repeating an interrupted call must not start the next rotation.
  const underWay = staged !== undefined || superseded.length > 0;
  const active = keys.find(({ state }) => state === 'active');
  const oldEnough = active === undefined || now - (active.activatedAt ?? 0) >= olderThan;
  if (!underWay && !continueOnly && oldEnough) await publish(transaction, algorithm);
}

function nextAt(keys: readonly StoredKey[], algorithm: SigningAlgorithm): number | undefined {
  const own = keys.filter((key) => key.algorithm === algorithm);
  const times = own.map(nextStepAt).filter((at) => at !== undefined);
  return times.length === 0 ? undefined : Math.min(...times);
}
