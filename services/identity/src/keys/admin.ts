// Operators' steps on signing keys, under the keys' lock. A single step that is too early is refused with the time when
// it becomes possible. A whole rotation is stage, wait, activate, wait, retire: each call does what is due, so that a
// job may be killed at any point, and run twice at once.
import { DetailedFailure } from '@course-exchange/runtime/process/errors';
import {
  type Action,
  type AdminAction,
  type AdminContext,
  type AdminRequest,
  type AdminResult,
  type AdminTransaction,
  auditedTransaction,
  conflict,
  fieldChanges,
  notFound,
  refused,
  refusedUntil,
  requireNoProblem,
} from '../admin/context.ts';
import {
  insertStagedKey,
  listKeys,
  lockKeys,
  markKeyActive,
  markKeyRetired,
  readClock,
  replaceEncryptedKey,
  type StoredKey,
} from './key-table.ts';
import {
  decryptPrivateKey,
  type EncryptionDeps,
  encryptPrivateKey,
  generateSigningKey,
  type KeyEncryptionKey,
} from './private-key.ts';
import { type KeyState, nextStepAt, type SigningAlgorithm, type SigningKeyRecord } from './signing-key.ts';

export interface KeyContext extends AdminContext, EncryptionDeps {
  /** That this installation signs with. */
  readonly algorithms: readonly SigningAlgorithm[];
  readonly previousKeyEncryptionKey: KeyEncryptionKey | undefined;
}

type KeyTransaction = AdminTransaction<KeyContext>;

/** Newest first. */
export async function readKeys(
  { database }: Pick<AdminContext, 'database'>,
  includeRetired: boolean,
): Promise<readonly StoredKey[]> {
  const keys = await listKeys(database);
  return includeRetired ? keys : keys.filter(({ state }) => state !== 'retired');
}

export const stageKey: AdminAction<SigningAlgorithm, StoredKey, KeyContext> = async (
  context,
  request,
  algorithm,
) => {
  return auditedTransaction(context, request, async (transaction) => {
    await lockKeys(transaction.queries);
    const keys = await listKeys(transaction.queries);
    const staged = keys.find((key) => key.algorithm === algorithm && key.state === 'staged');
    if (staged)
      throw new DetailedFailure('already_exists', `Key ${staged.kid} is staged for ${algorithm} already.`);
    return readKey(transaction, await publish(transaction, algorithm));
  });
};

export interface KeyStep {
  readonly kid: string;
  /** A key is compromised: do not wait. */
  readonly emergency: boolean;
}

/** Throws `not_found`, `conflict` (not staged), `refused_until`. Atomic. */
export const activateKey: AdminAction<KeyStep, StoredKey> = (context, request, step) => {
  return changeKey(context, request, step, async (transaction, key, keys) => {
    if (key.state === 'active') return;
    if (key.state !== 'staged') throw conflict(`Key ${key.kid} is ${key.state}, not staged.`);
    if (!step.emergency)
      await requireDue(transaction, key, 'was published too recently: key sets without it are still cached');
    await activate(transaction, key, keys);
  });
};

/** Throws `not_found`, `refused` (it is active), `refused_until`. Atomic. */
export const retireKey: AdminAction<KeyStep, StoredKey> = (context, request, step) => {
  return changeKey(context, request, step, async (transaction, key) => {
    if (key.state === 'retired') return;
    if (key.state === 'active') throw refused(`Key ${key.kid} is active; activate another one first.`);
    if (key.state === 'superseded' && !step.emergency)
      await requireDue(transaction, key, 'may have signed tokens that are still valid');
    await retire(transaction, key);
  });
};

async function changeKey(
  context: AdminContext,
  request: AdminRequest,
  { kid }: KeyStep,
  change: (transaction: AdminTransaction, key: StoredKey, keys: readonly StoredKey[]) => Promise<void>,
): Promise<AdminResult<StoredKey>> {
  return auditedTransaction(context, request, async (transaction) => {
    await lockKeys(transaction.queries);
    const key = await readKey(transaction, kid);
    await change(transaction, key, await listKeys(transaction.queries));
    return readKey(transaction, kid);
  });
}

async function requireDue({ queries }: AdminTransaction, key: StoredKey, why: string): Promise<void> {
  const { now } = await readClock(queries);
  const at = nextStepAt(key) ?? 0;
  if (at > now) throw refusedUntil(`Key ${key.kid} ${why}.`, at);
}

async function readKey({ queries }: AdminTransaction, kid: string): Promise<StoredKey> {
  const key = (await listKeys(queries)).find((one) => one.kid === kid);
  if (key === undefined) throw notFound(`key ${kid.slice(0, 64)}`);
  return key;
}

export async function publish(transaction: KeyTransaction, algorithm: SigningAlgorithm): Promise<string> {
  const key = await generateSigningKey(transaction, algorithm);
  await insertStagedKey(transaction.queries, key);
  recordState(transaction, 'key.stage', key.kid, [undefined, 'staged'], algorithm);
  return key.kid;
}

export async function activate(
  transaction: AdminTransaction,
  key: SigningKeyRecord,
  keys: readonly SigningKeyRecord[],
): Promise<void> {
  const active = keys.find((one) => one.algorithm === key.algorithm && one.state === 'active');
  await markKeyActive(transaction.queries, key.kid);
  recordState(transaction, 'key.activate', key.kid, ['staged', 'active']);
  if (active === undefined) return;
  recordState(transaction, 'key.supersede', active.kid, ['active', 'superseded']);
}

export async function retire(transaction: AdminTransaction, { kid, state }: SigningKeyRecord): Promise<void> {
  await markKeyRetired(transaction.queries, kid);
  recordState(transaction, 'key.retire', kid, [state, 'retired']);
}

function recordState(
  { recordChange }: AdminTransaction,
  action: Action,
  kid: string,
  [before, after]: readonly [KeyState | undefined, KeyState],
  algorithm?: SigningAlgorithm,
): void {
  const fields = fieldChanges({ state: before }, { algorithm, state: after });
  recordChange({ action, object: `key:${kid}`, fields });
}

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
export const rotateKeys: AdminAction<Rotation, RotationStatus, KeyContext> = async (
  context,
  request,
  rotation,
) => {
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
  transaction: KeyTransaction,
  algorithm: SigningAlgorithm,
  { continueOnly, olderThan }: Rotation,
): Promise<void> {
  const { now } = await readClock(transaction.queries);
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

export function isCurrentlyEncrypted(
  { keyEncryptionKey }: Pick<KeyContext, 'keyEncryptionKey'>,
  key: StoredKey,
): boolean {
  return decryptPrivateKey([keyEncryptionKey], key) !== undefined;
}

/** All or none; pods decrypt with both keys. Throws `refused` when neither decrypts a key. Atomic. */
export const reencryptKeys: AdminAction<
  void,
  Record<'reencrypted' | 'alreadyCurrent', number>,
  KeyContext
> = async (context, request) => {
  const { previousKeyEncryptionKey: previous } = context;
  return auditedTransaction(context, request, async ({ queries, recordChange }) => {
    await lockKeys(queries);
    const keys = (await listKeys(queries)).filter(
      ({ encryptedPrivateKey }) => encryptedPrivateKey.length > 0,
    );
    const others = keys.filter((key) => !isCurrentlyEncrypted(context, key));
    for (const key of others) {
      const pkcs8 = previous && decryptPrivateKey([previous], key);
      if (pkcs8 === undefined)
        throw refused(
          `Key ${key.kid} opens neither with KEY_ENCRYPTION_KEY nor with KEY_ENCRYPTION_KEY_PREVIOUS.`,
        );
      const encrypted = encryptPrivateKey(context, key.kid, pkcs8);
      await replaceEncryptedKey(queries, key.kid, encrypted);
      const fields = fieldChanges({ encryption: 'previous' }, { encryption: 'current' });
      recordChange({ action: 'key.reencrypt', object: `key:${key.kid}`, fields });
    }
    return { reencrypted: others.length, alreadyCurrent: keys.length - others.length };
  });
};
