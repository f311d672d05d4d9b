// The suites: where their files are, what is started or found for them, and how they run.

interface Suite {
  readonly include?: readonly string[];
  /** Of `test/setup`: what is started or found once, and what each worker learns of it. */
  readonly setup?: readonly string[];
  readonly own?: string;
  readonly timeoutMs?: number;
  /** File after file. */
  readonly alone?: boolean;
}

const beside = ['services/**/*.test.ts', 'deploy/**/*.test.ts'];
const onStack = { setup: ['stacks'] };

export const suites: Readonly<Record<string, Suite>> = {
  e2e: onStack,
  hostile: onStack,
  // Before the operator, who brings more data.
  contract: onStack,
  operator: onStack,
  stack: { timeoutMs: 180_000 },
  stores: { setup: ['stores'], own: 'own-stores', timeoutMs: 180_000 },
  chart: {},
  rpc: onStack,
  secrets: {},
  clients: onStack,
  docs: {},
  unit: { include: [...beside, 'test/*.test.ts', 'test/check/*.test.ts'] },
  // The other tiers.
  examples: {},
  faults: { timeoutMs: 180_000, alone: true },
  containers: { setup: ['containers'], own: 'own-containers', timeoutMs: 180_000, alone: true },
  observability: { timeoutMs: 600_000, alone: true },
  cluster: { setup: ['cluster'], timeoutMs: 600_000 },
};
