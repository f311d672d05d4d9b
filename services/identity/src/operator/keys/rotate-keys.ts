// The whole dance: stage, wait, activate, wait, retire. Each call does what is due and says when to come again,
// so it may run as a job, be killed at any point, and run twice at once: the steps are the same ones.
import { nextStepAt, phaseOf } from '../../domain/key-lifecycle.ts';
import type { SigningAlgorithm } from '../../domain/signing-algorithm.ts';
import { listKeys, lockKeys, readClock, type SealedKey } from '../../store/postgres/key-records.ts';
import { carryOut, type Desk, type Order, type Outcome, requireNoMistake } from '../desk.ts';
import { activate, isDue, type KeyWork, retire, stage } from './key-steps.ts';

export interface Rotation {
  /** Empty: each algorithm of the installation. */
  readonly algorithms: readonly SigningAlgorithm[];
  /** Begin nothing. */
  readonly continueOnly: boolean;
  /** Milliseconds: begin only where the active key has been so for longer. */
  readonly olderThan: number;
}

interface RotationProgress {
  readonly algorithm: SigningAlgorithm;
  readonly finished: boolean;
  /** Milliseconds since the epoch; undefined when finished. */
  readonly nextAt: number | undefined;
}

export interface RotationStatus {
  readonly progress: readonly RotationProgress[];
  /** Those not retired, newest first. */
  readonly keys: readonly SealedKey[];
}

/** Throws `invalid_argument` for an algorithm that the installation does not use. Atomic. */
export async function rotateKeys(
  desk: Desk,
  order: Order,
  rotation: Rotation,
): Promise<Outcome<RotationStatus>> {
  const foreign = rotation.algorithms.filter((algorithm) => !desk.algorithms.includes(algorithm));
  requireNoMistake(foreign.map((algorithm) => `This installation does not sign with ${algorithm}.`));
  const algorithms = rotation.algorithms.length > 0 ? rotation.algorithms : desk.algorithms;
  return carryOut(desk, order, async (queries, note) => {
    await lockKeys(queries);
    const work = { desk, queries, note };
    for (const algorithm of new Set(algorithms)) await stepOf(work, algorithm, rotation);
    const keys = (await listKeys(queries)).filter((key) => phaseOf(key) !== 'retired');
    return { keys, progress: [...new Set(algorithms)].map((algorithm) => progressOf(keys, algorithm)) };
  });
}

async function stepOf(
  work: KeyWork,
  algorithm: SigningAlgorithm,
  { continueOnly, olderThan }: Rotation,
): Promise<void> {
  const now = await readClock(work.queries);
  const keys = (await listKeys(work.queries)).filter((key) => key.algorithm === algorithm);
  for (const key of keys) if (phaseOf(key) === 'superseded' && isDue(key, now)) await retire(work, key);
  const staged = keys.find((key) => phaseOf(key) === 'staged');
  if (staged && isDue(staged, now)) await activate(work, staged, keys);
  // A call that ends a rotation begins none: who repeats an interrupted one asks for its end, not for another.
  const underWay = keys.some((key) => phaseOf(key) === 'staged' || phaseOf(key) === 'superseded');
  const active = keys.find((key) => phaseOf(key) === 'active');
  const oldEnough = active === undefined || now - (active.activatedAt ?? 0) >= olderThan;
  if (!underWay && !continueOnly && oldEnough) await stage(work, algorithm);
}

function progressOf(keys: readonly SealedKey[], algorithm: SigningAlgorithm): RotationProgress {
  const times = keys
    .filter((key) => key.algorithm === algorithm)
    .map(nextStepAt)
    .filter((at) => at !== undefined);
  const finished = times.length === 0;
  return { algorithm, finished, nextAt: finished ? undefined : Math.min(...times) };
}
