// Passwords as argon2id (R18.3), verified in the same time for every account (R18.5), off the event loop, with bounded
// concurrency and queue (R14.5). Imported hashes of other schemes are verified until a login replaces them.
import { type BinaryLike, pbkdf2, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { timeBudget } from '@course-exchange/rules/time-budget';
import { Overloaded } from '@course-exchange/runtime/process/errors';
import { createPermits } from '@course-exchange/runtime/process/permits';
import { requireTime, timeLeft } from '@course-exchange/runtime/process/request-context';
import { annotateWait, inSpan } from '@course-exchange/runtime/process/spans';
import { hash, verify as verifyArgon2 } from '@node-rs/argon2';
import { verify as verifyBcrypt } from '@node-rs/bcrypt';
import { SpanKind } from '@opentelemetry/api';
import { identityMetrics } from '../metrics.ts';
import { type Pbkdf2Hash, readPasswordHash, type ScryptHash, standInsFor } from '../users/password-hash.ts';

/** OWASP's first choice for argon2id, and the binding's default. Memory in KiB. */
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
const ownForm = `$argon2id$v=19$m=${parameters.memoryCost},t=${parameters.timeCost},p=${parameters.parallelism}$`;

export function hashPassword(password: string): Promise<string> {
  return hash(password, parameters);
}

export function needsRehash(passwordHash: string): boolean {
  return !passwordHash.startsWith(ownForm);
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
      throw new Overloaded('the password queue is full');
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

export type Rehash = (passwordHash: string, password: string) => Promise<string | undefined>;

/** Limited to the queue's share of suspect logins. */
export function createRehash(queue: HashingQueue): Rehash {
  return async (passwordHash, password) =>
    needsRehash(passwordHash) ? queue(() => hashPassword(password), true) : undefined;
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

/** Every false costs the same. Throws `temporarily_unavailable` when the queue is full. */
export type VerifyPassword = (check: PasswordCheck) => Promise<boolean>;

/** `heldForms`: of all users' hashes. `matches` is for tests. */
export function createPasswordVerifier(
  queue: HashingQueue,
  heldForms: () => Promise<readonly string[]>,
  matches = matchesHash,
): VerifyPassword {
  return async ({ password, passwordHash, isDisabled = false, isSuspect = false }) => {
    const forms = [ownForm, ...(await heldForms())];
    return queue(async () => {
      const matched = passwordHash !== undefined && (await matches(passwordHash, password));
      if (matched && !isDisabled) return true;
      for (const standIn of standInsFor(passwordHash, forms)) await matches(standIn, password);
      return false;
    }, isSuspect);
  };
}

const deriveByPbkdf2 = promisify(pbkdf2);
const deriveByScrypt = promisify<BinaryLike, BinaryLike, number, ScryptOptions, Buffer>(scrypt);
/** Bytes: twice what the costliest accepted hash needs. */
const maxmem = 256 * 1024 * 1024;

export async function matchesHash(passwordHash: string, password: string): Promise<boolean> {
  const read = readPasswordHash(passwordHash);
  switch (read?.scheme) {
    case 'argon2id':
      return verifyArgon2(passwordHash, password);
    case 'bcrypt':
      return verifyBcrypt(password, passwordHash);
    case 'scrypt':
    case 'pbkdf2': {
      const derived = await derive(read, password);
      return timingSafeEqual(derived, read.key.subarray(0, derived.length));
    }
    default:
      return false;
  }
}

function derive(read: Pbkdf2Hash | ScryptHash, password: string): Promise<Buffer> {
  const { salt, key } = read;
  if (read.scheme === 'pbkdf2') {
    // A longer key repeats all iterations and adds nothing.
    const length = Math.min(key.length, read.digest === 'sha512' ? 64 : 32);
    return deriveByPbkdf2(password, salt, read.iterations, length, read.digest);
  }
  const { cost, blockSize, parallelization } = read;
  return deriveByScrypt(password, salt, key.length, { cost, blockSize, parallelization, maxmem });
}
