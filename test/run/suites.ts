// Which suites there are, in the order of their running: quick ones first, so that a mistake shows early.

export const suiteNames = [
  'unit',
  'docs',
  'chart',
  'rpc',
  'stores',
  'contract',
  'hostile',
  'secrets',
  'clients',
  'e2e',
  'operator',
  'fault',
  'stack',
] as const;

export type SuiteName = (typeof suiteNames)[number];

/** They call a deployment and leave it as they found it, but for users, partners and keys of their own. */
const calling: readonly SuiteName[] = ['rpc', 'contract', 'hostile', 'secrets', 'clients', 'e2e', 'operator'];

/** Those that start what they need, and those that share a stack. */
export function lanesOf({ suites }: Selection): readonly [readonly SuiteName[], readonly SuiteName[]] {
  const calls = (suite: SuiteName) => calling.includes(suite);
  return [suites.filter((suite) => !calls(suite)), suites.filter(calls)];
}

export type Selection = {
  readonly check: boolean;
  readonly suites: readonly SuiteName[];
  readonly whole: boolean;
};

/** Reads `--only contract,unit`; `check` is a name too. Throws with one sentence for a name that is none. */
export function selectSuites(args: readonly string[]): Selection {
  const given = args.filter((arg) => arg !== '--');
  if (given.length === 0) return { check: true, suites: suiteNames, whole: true };
  const at = given[0] === '--only' ? given[1] : given[0]?.match(/^--only=(.+)$/)?.[1];
  const names = at?.split(',') ?? [];
  const unknown = names.filter((name) => name !== 'check' && !suiteNames.some((suite) => suite === name));
  if (names.length === 0 || unknown.length > 0) {
    throw new Error(`Usage: test [--only NAME,…] with names from: check, ${suiteNames.join(', ')}.`);
  }
  const suites = suiteNames.filter((suite) => names.includes(suite));
  return { check: names.includes('check'), suites, whole: false };
}
