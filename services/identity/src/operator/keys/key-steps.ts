// The steps of a signing key's life, each guarded by time (R17). All of them run under the keys' lock.
import type { Queries } from '@course-exchange/runtime/postgres';
import { type Change, fieldChanges } from '../../domain/change.ts';
import { nextStepAt, phaseOf, type SigningKeyRecord } from '../../domain/key-lifecycle.ts';
import type { SigningAlgorithm } from '../../domain/signing-algorithm.ts';
import { generateSigningKey } from '../../signing/key-generation.ts';
import {
  letSign,
  listKeys,
  publishKey,
  removeKey,
  type SealedKey,
} from '../../store/postgres/key-records.ts';
import type { Desk, Note } from '../desk.ts';

/** A transaction that holds the keys' lock. */
export interface KeyWork {
  readonly desk: Desk;
  readonly queries: Queries;
  readonly note: Note;
}

/** Makes a key and publishes it; returns its kid. */
export async function stage({ desk, queries, note }: KeyWork, algorithm: SigningAlgorithm): Promise<string> {
  const key = await generateSigningKey(algorithm, desk.keyEncryptionKey, desk.randomBytes);
  await publishKey(queries, key);
  note(phaseChange('key.stage', key.kid, undefined, 'staged', algorithm));
  return key.kid;
}

/** The staged `key` signs; the active one of its algorithm among `keys` is superseded. */
export async function activate(
  { queries, note }: KeyWork,
  key: SigningKeyRecord,
  keys: readonly SigningKeyRecord[],
): Promise<void> {
  const active = keys.find((one) => one.algorithm === key.algorithm && phaseOf(one) === 'active');
  await letSign(queries, key.kid);
  note(phaseChange('key.activate', key.kid, 'staged', 'active', key.algorithm));
  if (active) note(phaseChange('key.supersede', active.kid, 'active', 'superseded', active.algorithm));
}

/** Out of the key set for good. */
export async function retire({ queries, note }: KeyWork, key: SigningKeyRecord): Promise<void> {
  await removeKey(queries, key.kid);
  note(phaseChange('key.retire', key.kid, phaseOf(key), 'retired', key.algorithm));
}

/** The key as it stands now. */
export async function readKey(queries: Queries, kid: string): Promise<SealedKey | undefined> {
  return (await listKeys(queries)).find((key) => key.kid === kid);
}

/** Whether the next step of `key` is possible at `now`. */
export function isDue(key: SigningKeyRecord, now: number): boolean {
  const at = nextStepAt(key);
  return at !== undefined && at <= now;
}

function phaseChange(
  action: string,
  kid: string,
  before: string | undefined,
  after: string,
  algorithm: SigningAlgorithm,
): Change {
  const fields = fieldChanges(
    before === undefined ? {} : { state: before },
    before === undefined ? { algorithm, state: after } : { state: after },
  );
  return { action, object: `key:${kid}`, fields };
}
