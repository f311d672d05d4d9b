// Checks a password against a hash of any scheme that is understood; never on the event loop's own thread.
import { pbkdf2, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { verify as verifyArgon2 } from '@node-rs/argon2';
import { verify as verifyBcrypt } from '@node-rs/bcrypt';
import { type Pbkdf2Hash, readPasswordHash, type ScryptHash } from './password-scheme.ts';

const deriveByPbkdf2 = promisify(pbkdf2);

/** False for a hash that is not understood. */
export async function matchesHash(passwordHash: string, password: string): Promise<boolean> {
  const read = readPasswordHash(passwordHash);
  switch (read?.scheme) {
    case 'argon2id':
      return verifyArgon2(passwordHash, password);
    case 'bcrypt':
      return verifyBcrypt(password, passwordHash);
    case 'scrypt':
      return timingSafeEqual(await deriveByScrypt(read, password), read.key);
    case 'pbkdf2':
      return timingSafeEqual(await derive(read, password), read.key);
    default:
      return false;
  }
}

function derive({ salt, iterations, key, digest }: Pbkdf2Hash, password: string): Promise<Buffer> {
  return deriveByPbkdf2(password, salt, iterations, key.length, digest);
}

function deriveByScrypt(
  { salt, key, cost, blockSize, parallelization }: ScryptHash,
  password: string,
): Promise<Buffer> {
  const options = { cost, blockSize, parallelization, maxmem: 256 * 1024 * 1024 };
  return new Promise((resolve, reject) =>
    scrypt(password, salt, key.length, options, (error, derived) =>
      error ? reject(error) : resolve(derived),
    ),
  );
}
