// A single step with one key, on an operator's word: refused with the time at which it becomes possible.
import { DetailedFailure } from '@course-exchange/runtime/failure';
import { nextStepAt, phaseOf } from '../../domain/key-lifecycle.ts';
import type { SigningAlgorithm } from '../../domain/signing-algorithm.ts';
import { listKeys, lockKeys, readClock, type SealedKey } from '../../store/postgres/key-records.ts';
import {
  carryOut,
  conflict,
  type Desk,
  notFound,
  type Order,
  type Outcome,
  refused,
  refusedUntil,
} from '../desk.ts';
import { activate, type KeyWork, readKey, retire, stage } from './key-steps.ts';

/** Throws `already_exists` when one is staged. Atomic. */
export async function stageKey(
  desk: Desk,
  order: Order,
  algorithm: SigningAlgorithm,
): Promise<Outcome<SealedKey>> {
  return carryOut(desk, order, async (queries, note) => {
    await lockKeys(queries);
    const staged = (await listKeys(queries)).find(
      (key) => key.algorithm === algorithm && phaseOf(key) === 'staged',
    );
    if (staged)
      throw new DetailedFailure('already_exists', `Key ${staged.kid} is staged for ${algorithm} already.`);
    return present(await readKey(queries, await stage({ desk, queries, note }, algorithm)));
  });
}

export interface KeyStep {
  readonly kid: string;
  /** Do not wait: a key is compromised. */
  readonly emergency: boolean;
}

/** Throws `not_found`, `conflict` (not staged), `refused_until`. Atomic. */
export function activateKey(desk: Desk, order: Order, step: KeyStep): Promise<Outcome<SealedKey>> {
  return stepWith(desk, order, step, async (work, key, keys) => {
    if (phaseOf(key) === 'active') return;
    if (phaseOf(key) !== 'staged') throw conflict(`Key ${key.kid} is ${phaseOf(key)}, not staged.`);
    if (!step.emergency)
      await requireDue(work, key, 'was published too recently: key sets without it are still cached');
    await activate(work, key, keys);
  });
}

/** Throws `not_found`, `refused` (it is active), `refused_until`. Atomic. */
export function retireKey(desk: Desk, order: Order, step: KeyStep): Promise<Outcome<SealedKey>> {
  return stepWith(desk, order, step, async (work, key) => {
    const phase = phaseOf(key);
    if (phase === 'retired') return;
    if (phase === 'active') throw refused(`Key ${key.kid} is active; activate another one first.`);
    if (phase === 'superseded' && !step.emergency)
      await requireDue(work, key, 'may have signed tokens that are still valid');
    await retire(work, key);
  });
}

async function stepWith(
  desk: Desk,
  order: Order,
  { kid }: KeyStep,
  step: (work: KeyWork, key: SealedKey, keys: readonly SealedKey[]) => Promise<void>,
): Promise<Outcome<SealedKey>> {
  return carryOut(desk, order, async (queries, note) => {
    await lockKeys(queries);
    const keys = await listKeys(queries);
    const key = keys.find((one) => one.kid === kid);
    if (key === undefined) throw notFound(`key ${kid.slice(0, 64)}`);
    await step({ desk, queries, note }, key, keys);
    return present(await readKey(queries, kid));
  });
}

async function requireDue({ queries }: KeyWork, key: SealedKey, why: string): Promise<void> {
  const [at, now] = [nextStepAt(key) ?? 0, await readClock(queries)];
  if (at > now) throw refusedUntil(`Key ${key.kid} ${why}.`, at);
}

function present(key: SealedKey | undefined): SealedKey {
  if (key === undefined) throw new Error('a locked key is gone');
  return key;
}
