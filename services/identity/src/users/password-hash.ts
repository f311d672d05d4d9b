// Accepted password hashes and their costs, and dummy hashes that make every wrong login cost the same (R18.5,
// decision 0026).
const encoded = '[A-Za-z0-9+/.]+={0,2}';
const argon2id = new RegExp(`^\\$argon2id\\$v=19\\$m=(\\d+),t=(\\d+),p=(\\d+)\\$${encoded}\\$${encoded}$`);
const bcrypt = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/;
// Significant bits in the last character: two of a 16-byte salt, four of a 23-byte hash.
const bcryptPadded = /[./A-Za-z0-9]{21}[.Oeu][./A-Za-z0-9]{30}[.CGKOSWaeimquy26]$/;
const scrypt = new RegExp(`^\\$scrypt\\$ln=(\\d+),r=(\\d+),p=(\\d+)\\$(${encoded})\\$(${encoded})$`);
const pbkdf2 = new RegExp(
  `^\\$pbkdf2-(sha256|sha512)\\$(?:i=)?(\\d+)(?:,l=\\d+)?\\$(${encoded})\\$(${encoded})$`,
);

export interface ScryptHash {
  readonly scheme: 'scrypt';
  readonly cost: number;
  readonly blockSize: number;
  readonly parallelization: number;
  readonly salt: Buffer;
  readonly key: Buffer;
}

export interface Pbkdf2Hash {
  readonly scheme: 'pbkdf2';
  readonly digest: string;
  readonly iterations: number;
  readonly salt: Buffer;
  readonly key: Buffer;
}

export type ReadHash = { readonly scheme: 'argon2id' | 'bcrypt' } | ScryptHash | Pbkdf2Hash;

/** PHC or modular crypt form; undefined when not accepted or too costly. */
export function readPasswordHash(text: string): ReadHash | undefined {
  if (text.length > 512) return undefined;
  return readArgon2id(text) ?? readBcrypt(text) ?? readScrypt(text) ?? readPbkdf2(text);
}

/** At most 128 MiB, ten passes. */
function readArgon2id(text: string): ReadHash | undefined {
  const [, memory, passes, lanes] = (argon2id.exec(text) ?? []).map(Number);
  if (memory === undefined || passes === undefined || lanes === undefined) return undefined;
  const fits = memory >= 8 * lanes && memory <= 131_072 && passes >= 1 && passes <= 10;
  return fits && lanes >= 1 && lanes <= 8 ? { scheme: 'argon2id' } : undefined;
}

/** At most 2^14 rounds, about a second. A damaged hash costs nothing. */
function readBcrypt(text: string): ReadHash | undefined {
  const cost = Number(bcrypt.exec(text)?.[1]);
  return cost >= 4 && cost <= 14 && bcryptPadded.test(text) ? { scheme: 'bcrypt' } : undefined;
}

/** Padding bits are set: no password matches. */
export function isDamagedBcrypt(text: string): boolean {
  return bcrypt.test(text) && !bcryptPadded.test(text);
}

/** At most 128 MiB. */
function readScrypt(text: string): ScryptHash | undefined {
  const [, ln, r, p, salt, key] = scrypt.exec(text) ?? [];
  if (salt === undefined || key === undefined) return undefined;
  const [log, blockSize, parallelization] = [Number(ln), Number(r), Number(p)];
  if (log < 1 || log > 20 || blockSize < 1 || parallelization < 1 || parallelization > 4) return undefined;
  const cost = 2 ** log;
  if (128 * cost * blockSize > 128 * 1024 * 1024) return undefined;
  const parts = { salt: decode(salt), key: decode(key) };
  return longEnough(parts.key) ? { scheme: 'scrypt', cost, blockSize, parallelization, ...parts } : undefined;
}

/** At most two million iterations: about a second. */
function readPbkdf2(text: string): Pbkdf2Hash | undefined {
  const [, digest, rounds, salt, key] = pbkdf2.exec(text) ?? [];
  if (digest === undefined || salt === undefined || key === undefined) return undefined;
  const iterations = Number(rounds);
  if (iterations < 1 || iterations > 2_000_000) return undefined;
  const parts = { salt: decode(salt), key: decode(key) };
  return longEnough(parts.key) ? { scheme: 'pbkdf2', digest, iterations, ...parts } : undefined;
}

/** A short key would match by chance. */
function longEnough(key: Buffer): boolean {
  return key.length >= 16 && key.length <= 128;
}

/** passlib writes `.` for `+`. */
function decode(text: string): Buffer {
  return Buffer.from(text.replaceAll('.', '+'), 'base64');
}

export function passwordAlgorithm(passwordHash: string): string {
  return readPasswordHash(passwordHash)?.scheme ?? 'none';
}

/** Scheme and costs; index users_password_form has the same expression. */
const form = /^\$(?:argon2id\$v=19|[^$]+)\$[^$]+\$/;
const bcryptForm = /^\$2[aby]\$(\d\d)\$$/;
const pbkdf2Form = /^\$(pbkdf2-sha\d+)\$(?:i=)?(\d+)/;

/** Linear in rounds. */
interface Cost {
  readonly kind: string;
  readonly rounds: number;
}

function standIn(form: string): string {
  const [salt, key] = ['A'.repeat(22), 'A'.repeat(43)];
  return form + (bcryptForm.test(form) ? '.'.repeat(53) : `${salt}$${key}`);
}

function costOf(form: string): Cost | undefined {
  if (readPasswordHash(standIn(form)) === undefined) return undefined;
  const [, exponent] = bcryptForm.exec(form) ?? [];
  if (exponent !== undefined) return { kind: 'bcrypt', rounds: 2 ** Number(exponent) };
  const [, digest, iterations] = pbkdf2Form.exec(form) ?? [];
  if (digest !== undefined) return { kind: digest, rounds: Number(iterations) };
  // Memory is not additive: each form is a separate kind.
  return { kind: form, rounds: 1 };
}

function standInsOf({ kind, rounds }: Cost): string[] {
  if (rounds <= 0) return [];
  if (kind.startsWith('pbkdf2-')) return [standIn(`$${kind}$${rounds}$`)];
  if (kind !== 'bcrypt') return [standIn(kind)];
  // bcrypt's rounds are powers of two.
  const exponents = [...rounds.toString(2)].reverse().flatMap((bit, at) => (bit === '1' ? [at] : []));
  return exponents.map((exponent) => standIn(`$2b$${String(exponent).padStart(2, '0')}$`));
}

/** Verified after a mismatch, so that every login costs as much as the costliest of `heldForms`. */
export function standInsFor(passwordHash: string | undefined, heldForms: readonly string[]): string[] {
  const owed = new Map<string, number>();
  const costs = heldForms.map(costOf).filter((cost) => cost !== undefined);
  for (const { kind, rounds } of costs) owed.set(kind, Math.max(rounds, owed.get(kind) ?? 0));
  const computed = passwordHash !== undefined && readPasswordHash(passwordHash) !== undefined;
  const paid = computed ? costOf(form.exec(passwordHash)?.[0] ?? '') : undefined;
  return [...owed].flatMap(([kind, rounds]) =>
    standInsOf({ kind, rounds: paid?.kind === kind ? rounds - paid.rounds : rounds }),
  );
}
