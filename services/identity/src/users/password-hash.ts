// Password hashes, ours and those of other systems: one parser reads them, and they are stored in one canonical text
// (R18.6). `login/password.ts` verifies them.
//
//   text ──► PasswordHash ──► canonical text, form (scheme, version, costs and lengths: all but salt and key)

interface Derived {
  readonly salt: Buffer;
  readonly key: Buffer;
}

export interface Argon2idHash extends Derived {
  readonly scheme: 'argon2id';
  /** KiB. */
  readonly memory: number;
  readonly passes: number;
  readonly lanes: number;
}

interface BcryptHash {
  readonly scheme: 'bcrypt';
  readonly version: string;
  /** Base-2 logarithm of the rounds. */
  readonly cost: number;
  /** 22 characters of salt and 31 of key, in bcrypt's base64. */
  readonly digits: string;
}

export interface ScryptHash extends Derived {
  readonly scheme: 'scrypt';
  /** Base-2 logarithm of N (RFC 7914). */
  readonly cost: number;
  readonly blockSize: number;
  readonly parallelization: number;
}

export interface Pbkdf2Hash extends Derived {
  readonly scheme: 'pbkdf2';
  readonly digest: string;
  readonly iterations: number;
}

export type PasswordHash = Argon2idHash | BcryptHash | ScryptHash | Pbkdf2Hash;

/** A `problem`, in a sentence without the hash: no password is verified against it. */
export type ReadHash =
  | { readonly hash: PasswordHash; readonly problem?: undefined }
  | { readonly hash?: PasswordHash; readonly problem: string };

const longestText = 512;

/** Base64 as PHC strings, padded, or as passlib writes it; leading zeros of numbers are dropped. */
export function readPasswordHash(text: string): ReadHash {
  const hash = text.length > longestText ? undefined : parse(text);
  if (hash === undefined)
    return { problem: 'The password hash is not argon2id (v=19), bcrypt, scrypt or pbkdf2 in PHC form.' };
  const problem = problemOf(hash);
  return problem === undefined ? { hash } : { hash, problem };
}

const base64 = '([A-Za-z0-9+/.]+)={0,2}';
const argon2id = new RegExp(`^\\$argon2id\\$v=19\\$m=(\\d+),t=(\\d+),p=(\\d+)\\$${base64}\\$${base64}$`);
const bcrypt = /^\$2([abxy])\$(\d\d)\$([./A-Za-z0-9]{53})$/;
const scrypt = new RegExp(`^\\$scrypt\\$ln=(\\d+),r=(\\d+),p=(\\d+)\\$${base64}\\$${base64}$`);
const pbkdf2 = new RegExp(`^\\$pbkdf2-(sha256|sha512)\\$(?:i=)?(\\d+)(?:,l=\\d+)?\\$${base64}\\$${base64}$`);

function parse(text: string): PasswordHash | undefined {
  const of = (pattern: RegExp) => pattern.exec(text)?.slice(1);
  const [memory, passes, lanes, ...ofArgon2id] = of(argon2id) ?? [];
  if (memory !== undefined) {
    const costs = { memory: Number(memory), passes: Number(passes), lanes: Number(lanes) };
    return { scheme: 'argon2id', ...costs, ...derived(ofArgon2id) };
  }
  const [version, rounds, digits] = of(bcrypt) ?? [];
  if (version !== undefined && digits !== undefined)
    return { scheme: 'bcrypt', version, cost: Number(rounds), digits };
  const [cost, blockSize, parallelization, ...ofScrypt] = of(scrypt) ?? [];
  if (cost !== undefined) {
    const costs = { blockSize: Number(blockSize), parallelization: Number(parallelization) };
    return { scheme: 'scrypt', cost: Number(cost), ...costs, ...derived(ofScrypt) };
  }
  const [digest, iterations, ...ofPbkdf2] = of(pbkdf2) ?? [];
  if (digest === undefined) return undefined;
  return { scheme: 'pbkdf2', digest, iterations: Number(iterations), ...derived(ofPbkdf2) };
}

function derived([salt = '', key = '']: readonly string[]): Derived {
  return { salt: decode(salt), key: decode(key) };
}

/** passlib writes `.` for `+`. Empty when no bytes have this text. */
function decode(text: string): Buffer {
  return Buffer.from(text.length % 4 === 1 ? '' : text.replaceAll('.', '+'), 'base64');
}

const tooCostly = 'The costs of the password hash are beyond bounds.';

function problemOf(hash: PasswordHash): string | undefined {
  if (hash.scheme === 'bcrypt') return bcryptProblem(hash);
  if (!areCostsInBounds(hash)) return tooCostly;
  // argon2id: RFC 9106 §3.1. Of the others a short key would match by chance.
  const { salt, key, scheme } = hash;
  const [leastSalt, leastKey, mostKey] = scheme === 'argon2id' ? [8, 4, longestText] : [1, 16, 128];
  return lengthProblem('salt', salt, leastSalt) ?? lengthProblem('key', key, leastKey, mostKey);
}

function bcryptProblem({ version, cost, digits }: BcryptHash): string | undefined {
  if (version === 'x') return 'A $2x$ hash is of a faulty bcrypt, for which unlike passwords are the same.';
  // Significant bits in the last character: two of a 16-byte salt, four of a 23-byte key.
  if (!/^.{21}[.Oeu].{30}[.CGKOSWaeimquy26]$/.test(digits))
    return 'The bcrypt hash is damaged: bits behind its salt or its key are set, so that no password matches it.';
  // 2^14 rounds take about a second.
  return within(cost, 4, 14) ? undefined : tooCostly;
}

/** At most 128 MiB, and about a second. */
function areCostsInBounds(hash: Argon2idHash | ScryptHash | Pbkdf2Hash): boolean {
  if (hash.scheme === 'pbkdf2') return within(hash.iterations, 1, 2_000_000);
  if (hash.scheme === 'argon2id') {
    const { memory, passes, lanes } = hash;
    return within(lanes, 1, 8) && within(memory, 8 * lanes, 128 * 1024) && within(passes, 1, 10);
  }
  const { cost, blockSize, parallelization } = hash;
  // RFC 7914 §2: N is less than 2^(128 * r / 8).
  const isPossible = within(cost, 1, Math.min(20, 16 * blockSize - 1)) && within(parallelization, 1, 4);
  return isPossible && 128 * blockSize * 2 ** cost <= 128 * 1024 * 1024;
}

function within(value: number, least: number, most: number): boolean {
  return value >= least && value <= most;
}

function lengthProblem(what: string, { length }: Buffer, least: number, most = longestText) {
  if (within(length, least, most)) return undefined;
  return `The ${what} of the password hash has ${length} bytes, not ${least} to ${most}.`;
}

/** PHC string format, or bcrypt's own. */
export function passwordHashText(hash: PasswordHash): string {
  switch (hash.scheme) {
    case 'argon2id':
      return `$argon2id$v=19$m=${hash.memory},t=${hash.passes},p=${hash.lanes}${encode(hash)}`;
    case 'bcrypt':
      return `$2${hash.version}$${String(hash.cost).padStart(2, '0')}$${hash.digits}`;
    case 'scrypt':
      return `$scrypt$ln=${hash.cost},r=${hash.blockSize},p=${hash.parallelization}${encode(hash)}`;
    case 'pbkdf2':
      return `$pbkdf2-${hash.digest}$i=${hash.iterations}${encode(hash)}`;
  }
}

function encode({ salt, key }: Derived): string {
  const [saltText, keyText] = [salt, key].map((bytes) => bytes.toString('base64').replace(/=+$/, ''));
  return `$${saltText}$${keyText}`;
}

/** Scheme and costs at the beginning of a text, for JavaScript and for Postgres. */
export const costsPattern = String.raw`^\$(?:argon2id\$v=19|[^$]+)\$[^$]+\$`;
const costsThenDigits = new RegExp(`(${costsPattern})(.*)$`, 'su');

/** The text with a dot for each character of salt and key: index users_password_hash_form has it of stored texts. */
export function passwordForm(text: string): string {
  return text.replace(
    costsThenDigits,
    (_, costs: string, digits: string) => costs + digits.replace(/[^$=]/gu, '.'),
  );
}

export function formOf(hash: PasswordHash): string {
  return passwordForm(passwordHashText(hash));
}

/** Undefined when no password is verified against it. */
export function verifiableHash(text: string): PasswordHash | undefined {
  const { hash, problem } = readPasswordHash(text);
  return problem === undefined ? hash : undefined;
}

export function passwordAlgorithm(passwordHash: string): string {
  return verifiableHash(passwordHash)?.scheme ?? 'none';
}
