// Dummy hashes, verified after a mismatch, so that every wrong login costs as much as the costliest stored hash of each
// scheme (R18.5, decision 0026).
import { type PasswordHash, passwordHashText } from '../users/password-hash.ts';

/** Linear in rounds. */
interface Cost {
  readonly kind: string;
  readonly rounds: number;
  readonly standIns: (rounds: number) => PasswordHash[];
}

const salt = Buffer.alloc(16);
const key = Buffer.alloc(32);

function costOf(hash: PasswordHash): Cost {
  if (hash.scheme === 'bcrypt') return { kind: 'bcrypt', rounds: 2 ** hash.cost, standIns: bcryptOf };
  const standIn = { ...hash, salt, key };
  if (standIn.scheme !== 'pbkdf2')
    // Memory is not additive: each set of costs is a separate kind.
    return { kind: passwordHashText(standIn), rounds: 1, standIns: () => [standIn] };
  const standIns = (iterations: number) => [{ ...standIn, iterations }];
  return { kind: `pbkdf2-${standIn.digest}`, rounds: standIn.iterations, standIns };
}

/** One of each power of two in `rounds`. */
function bcryptOf(rounds: number): PasswordHash[] {
  const costs = [...rounds.toString(2)].reverse().flatMap((bit, at) => (bit === '1' ? [at] : []));
  return costs.map((cost) => ({ scheme: 'bcrypt', version: 'b', cost, digits: '.'.repeat(53) }));
}

/** What `held` costs beyond `computed`; `computed` is undefined if no hash was verified. */
export function standInsFor(
  computed: PasswordHash | undefined,
  held: readonly PasswordHash[],
): PasswordHash[] {
  const owed = new Map<string, Cost>();
  for (const cost of held.map(costOf))
    if (cost.rounds > (owed.get(cost.kind)?.rounds ?? 0)) owed.set(cost.kind, cost);
  const paid = computed && costOf(computed);
  return [...owed.values()].flatMap(({ kind, rounds, standIns }) => {
    const rest = paid?.kind === kind ? rounds - paid.rounds : rounds;
    return rest > 0 ? standIns(rest) : [];
  });
}
