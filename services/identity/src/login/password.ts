// Passwords as argon2id (R18.3), verified in the same time for every account (R18.5), off the event loop, with bounded
// concurrency and queue (R14.5). Imported hashes of other schemes are verified until a login replaces them.
import { type BinaryLike, pbkdf2, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { timeBudget } from '@course-exchange/rules/time-budget';
import { Overloaded, unavailable } from '@course-exchange/runtime/process/errors';
import { createPermits } from '@course-exchange/runtime/process/permits';
import { requireTime, timeLeft } from '@course-exchange/runtime/process/request-context';
import { annotateWait, inSpan } from '@course-exchange/runtime/process/spans';
import { hash, verify as verifyArgon2 } from '@node-rs/argon2';
import { verify as verifyBcrypt } from '@node-rs/bcrypt';
import { SpanKind } from '@opentelemetry/api';
import { identityMetrics } from '../metrics.ts';
import {
  type Argon2idHash,
  formOf,
  type PasswordHash,
  type Pbkdf2Hash,
  passwordForm,
  passwordHashText,
  type ScryptHash,
  verifiableHash,
} from '../users/password-hash.ts';
import { standInsFor } from './stand-ins.ts';

/** OWASP's first choice for argon2id, and the binding's default. Memory in KiB. */
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
const ownHash: Argon2idHash = {
  scheme: 'argon2id',
  memory: parameters.memoryCost,
  passes: parameters.timeCost,
  lanes: parameters.parallelism,
  salt: Buffer.alloc(16),
  key: Buffer.alloc(32),
};
const ownForm = formOf(ownHash);

export function hashPassword(password: string): Promise<string> {
  return hash(password, parameters);
}

export function needsRehash(passwordHash: string): boolean {
  return passwordForm(passwordHash) !== ownForm;
}

export interface HashingLimits {
  readonly concurrency: number;
  readonly waiting: number;
  /** Default: `timeBudget.passwordQueue`. */
  readonly longestWaitMs?: number;
}

/** `isSuspect` work may fill half of the queue. */
export type HashingQueue = <T>(work: () => Promise<T>, isSuspect?: boolean) => Promise<T>;

/** First come, first served. Throws `temporarily_unavailable` over the limits. */
export function createHashingQueue({
  concurrency,
  waiting,
  longestWaitMs = timeBudget.passwordQueue,
}: HashingLimits): HashingQueue {
  const permits = createPermits(concurrency);
  identityMetrics.passwordHashing.observe(() => [
    [permits.running(), { state: 'running' }],
    [permits.queued(), { state: 'waiting' }],
  ]);

  const acquire = async (isSuspect: boolean): Promise<void> => {
    const isFull =
      permits.running() >= concurrency && permits.queued() >= (isSuspect ? waiting / 2 : waiting);
    if (isFull || !(await permits.acquire(Math.min(longestWaitMs, timeLeft()))))
      throw new Overloaded('password_queue_full');
  };

  return async (work, isSuspect = false) => {
    requireTime();
    return inSpan('password hashing', SpanKind.INTERNAL, {}, async () => {
      await annotateWait('course_exchange.password_hashing.wait_ms', () => acquire(isSuspect));
      try {
        return await work();
      } finally {
        permits.release();
      }
    });
  };
}

export type Rehash = (passwordHash: string, matched: string) => Promise<string | undefined>;

/** Limited to the queue's share of suspect logins. `matched` is a match. Undefined: the stored hash stays (R18.9). */
export function createRehash(queue: HashingQueue): Rehash {
  return async (passwordHash, matched) => {
    const composed = matched.normalize('NFC');
    const isStale = needsRehash(passwordHash) || composed !== matched;
    return isStale && isOnlyMatch(passwordHash, matched)
      ? queue(() => hashPassword(composed), true)
      : undefined;
  };
}

/** bcrypt reads 72 bytes; it and HMAC, in PBKDF2 and scrypt, also match a text with certain NULs. */
function isOnlyMatch(passwordHash: string, password: string): boolean {
  const hash = verifiableHash(passwordHash);
  if (hash?.scheme === 'argon2id') return true;
  // At 72 bytes the owner's may go on.
  const isCut = hash?.scheme === 'bcrypt' && Buffer.byteLength(password) >= 72;
  return hash !== undefined && !isCut && !password.includes('\0');
}

interface PasswordCheck {
  readonly password: string;
  /** Undefined for an unknown user. */
  readonly passwordHash: string | undefined;
  /** Never matches. */
  readonly isDisabled?: boolean;
  /** From a network with failures. */
  readonly isSuspect?: boolean;
}

/** `unverifiable`: no password matches the stored hash, by its form (R18.8). `matched`: as typed, or its NFC (R30.15). */
type PasswordVerdict = Exclude<Verdict, 'matches'> | { readonly matched: string };

/** For one password every verdict but a match costs the same. Throws `temporarily_unavailable` when the queue is full or hashing fails. */
export type VerifyPassword = (check: PasswordCheck) => Promise<PasswordVerdict>;

type Matches = (hash: PasswordHash, password: string) => Promise<boolean>;

interface VerifierDeps {
  readonly queue: HashingQueue;
  /** Of all users' hashes. */
  readonly heldForms: () => Promise<readonly string[]>;
  readonly onUnverifiableForm: (form: string) => void;
  /** For tests. */
  readonly matches?: Matches;
}

export function createPasswordVerifier({
  queue,
  heldForms,
  onUnverifiableForm,
  matches = matchesHash,
}: VerifierDeps): VerifyPassword {
  return async ({ password, passwordHash, isDisabled = false, isSuspect = false }) => {
    const held: PasswordHash[] = [ownHash];
    for (const form of await heldForms()) {
      const hash = verifiableHash(form);
      if (hash) held.push(hash);
      else onUnverifiableForm(form);
    }
    const own = passwordHash === undefined ? undefined : verifiableHash(passwordHash);
    const compare = async (spelling: string): Promise<Verdict> => {
      const verdict = own ? await verdictOn(own, spelling, matches) : 'differs';
      if (verdict === 'matches' && !isDisabled) return verdict;
      await passTime(standInsFor(verdict === 'unverifiable' ? undefined : own, held), spelling, matches);
      return verdict === 'unverifiable' ? verdict : 'differs';
    };
    return queue(async () => {
      let verdict: Verdict = 'differs';
      for (const spelling of new Set([password, password.normalize('NFC')])) {
        verdict = await compare(spelling);
        if (verdict === 'matches') return { matched: spelling };
      }
      if (passwordHash === undefined || (own && verdict === 'differs')) return 'differs';
      const form = passwordForm(passwordHash);
      // Other hashes of the form of a damaged one may be whole.
      if (own || !verifiableHash(form)) onUnverifiableForm(form);
      return 'unverifiable';
    }, isSuspect);
  };
}

/** A failure decides nothing (R18.8). */
async function passTime(
  standIns: readonly PasswordHash[],
  password: string,
  matches: Matches,
): Promise<void> {
  for (const standIn of standIns) await verdictOn(standIn, password, matches).catch(() => undefined);
}

/** Computes each form once. Limited to the queue's share of suspect logins. */
export function createFormCheck(queue: HashingQueue, matches: Matches = matchesHash) {
  const known = new Map<string, boolean>();
  return async (hash: PasswordHash): Promise<boolean> => {
    const form = formOf(hash);
    const verifies =
      known.get(form) ?? (await queue(() => verdictOn(hash, '', matches), true)) !== 'unverifiable';
    known.set(form, verifies);
    return verifies;
  };
}

type Verdict = 'matches' | 'differs' | 'unverifiable';

async function verdictOn(hash: PasswordHash, password: string, matches: Matches): Promise<Verdict> {
  try {
    return (await matches(hash, password)) ? 'matches' : 'differs';
  } catch (error) {
    if (refusals.has((error as { readonly code?: unknown }).code)) return 'unverifiable';
    throw unavailable('the password verifier', error);
  }
}

/** By which @node-rs and node:crypto refuse a hash before they compute it. */
const refusals = new Set<unknown>(['InvalidArg', 'ERR_CRYPTO_INVALID_SCRYPT_PARAMS']);

const deriveByPbkdf2 = promisify(pbkdf2);
const deriveByScrypt = promisify<BinaryLike, BinaryLike, number, ScryptOptions, Buffer>(scrypt);
/** Bytes: twice what the costliest accepted hash needs. */
const maxmem = 256 * 1024 * 1024;

export async function matchesHash(hash: PasswordHash, password: string): Promise<boolean> {
  switch (hash.scheme) {
    case 'argon2id':
      return verifyArgon2(passwordHashText(hash), password);
    case 'bcrypt':
      return verifyBcrypt(password, passwordHashText(hash));
    case 'scrypt':
    case 'pbkdf2': {
      const derived = await derive(hash, password);
      return timingSafeEqual(derived, hash.key.subarray(0, derived.length));
    }
  }
}

function derive(hash: Pbkdf2Hash | ScryptHash, password: string): Promise<Buffer> {
  const { salt, key } = hash;
  if (hash.scheme === 'pbkdf2') {
    // A longer key repeats all iterations and adds nothing.
    const length = Math.min(key.length, hash.digest === 'sha512' ? 64 : 32);
    return deriveByPbkdf2(password, salt, hash.iterations, length, hash.digest);
  }
  const { blockSize, parallelization } = hash;
  return deriveByScrypt(password, salt, key.length, {
    cost: 2 ** hash.cost,
    blockSize,
    parallelization,
    maxmem,
  });
}
