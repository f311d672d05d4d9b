// What it costs to verify a password hash, and stand-ins by which a wrong login costs the same for every account, there or
// not, whatever system its hash is from (R18.5, decision 0026).
import { readPasswordHash } from './password-formats.ts';

/** Scheme and costs of a hash, without salt and key. Index users_password_form has the same expression. */
const form = /^\$(?:argon2id\$v=19|[^$]+)\$[^$]+\$/;
const bcrypt = /^\$2[aby]\$(\d\d)\$$/;
const pbkdf2 = /^\$(pbkdf2-sha\d+)\$(?:i=)?(\d+)/;

/** Rounds of a kind add up: two hashes of n take as long as one of 2n. */
interface Cost {
  readonly kind: string;
  readonly rounds: number;
}

/** A hash of this form that no password matches. */
function standIn(form: string): string {
  const [salt, key] = ['A'.repeat(22), 'A'.repeat(43)];
  return form + (bcrypt.test(form) ? '.'.repeat(53) : `${salt}$${key}`);
}

/** Undefined for a form that is not understood: its hashes are not computed. */
function costOf(form: string): Cost | undefined {
  if (readPasswordHash(standIn(form)) === undefined) return undefined;
  const [, exponent] = bcrypt.exec(form) ?? [];
  if (exponent !== undefined) return { kind: 'bcrypt', rounds: 2 ** Number(exponent) };
  const [, digest, iterations] = pbkdf2.exec(form) ?? [];
  if (digest !== undefined) return { kind: digest, rounds: Number(iterations) };
  // Memory does not add up: each form is a kind of its own.
  return { kind: form, rounds: 1 };
}

/** Stand-ins that cost so much together. */
function standInsOf({ kind, rounds }: Cost): string[] {
  if (rounds <= 0) return [];
  if (kind.startsWith('pbkdf2-')) return [standIn(`$${kind}$${rounds}$`)];
  if (kind !== 'bcrypt') return [standIn(kind)];
  // A sum of powers of two: bcrypt knows no other rounds.
  const exponents = [...rounds.toString(2)].reverse().flatMap((bit, at) => (bit === '1' ? [at] : []));
  return exponents.map((exponent) => standIn(`$2b$${String(exponent).padStart(2, '0')}$`));
}

/**
 * What to verify after `passwordHash` (undefined: nobody's) did not match: with it, of each kind as many rounds as the
 * costliest of `heldForms` has.
 */
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
