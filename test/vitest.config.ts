// The suites as vitest projects. Three files run side by side, whatever their suites: they wait more than they compute. Each
// worker has a stack and stores that no other test touches. Suites that change the machine run file after file.
import { join } from 'node:path';
import { generateChartFiles } from '@course-exchange/observability/generate';
import { generateProto } from '@course-exchange/proto/generate';
import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';
import { root } from './check/step.ts';
import { ClauseReporter } from './contract/reporter.ts';

generateProto();
generateChartFiles();

interface Suite {
  /** By default `test/NAME`. */
  readonly include?: readonly string[];
  /** Files of `test/setup`: what is started or found once, and what each worker learns of it. */
  readonly setup?: readonly string[];
  readonly own?: string;
  /** After which a test counts as hung, on a busy machine too. */
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
  stack: {},
  stores: { setup: ['stores'], own: 'own-stores' },
  chart: {},
  rpc: onStack,
  secrets: {},
  clients: onStack,
  docs: {},
  unit: { include: [...beside, 'test/*.test.ts', 'test/check/*.test.ts'] },
  // The other tiers.
  examples: {},
  faults: { alone: true },
  containers: { setup: ['containers'], own: 'own-containers', alone: true },
  observability: { timeoutMs: 600_000, alone: true },
  cluster: { setup: ['cluster'], timeoutMs: 600_000 },
};

const order = Object.keys(suites);

/** Suites with long files first, so that the last are short; within one by name, in every clone alike. */
class InOrder extends BaseSequencer {
  override async sort(files: Parameters<BaseSequencer['sort']>[0]): ReturnType<BaseSequencer['sort']> {
    const rank = ({ project }: (typeof files)[number]) => order.indexOf(project.name);
    return files.toSorted(
      (one, other) => rank(one) - rank(other) || (one.moduleId < other.moduleId ? -1 : 1),
    );
  }
}

/** A deployment that is given is one for all. */
const isGiven = Boolean(process.env.STACK_FILE);
const setupFile = (name: string) => join(import.meta.dirname, 'setup', `${name}.ts`);

export default defineConfig({
  test: {
    sequence: { sequencer: InOrder },
    reporters: ['default', new ClauseReporter()],
    projects: Object.entries(suites).map(
      ([name, { include, setup = [], own, timeoutMs = 300_000, alone }]) => ({
        root,
        test: {
          name,
          include: [...(include ?? [`test/${name}/**/*.test.ts`])],
          exclude: ['**/node_modules/**'],
          testTimeout: timeoutMs,
          hookTimeout: 300_000,
          expect: { poll: { timeout: 30_000 } },
          maxWorkers: alone || isGiven ? 1 : 3,
          isolate: false,
          globalSetup: ['scratch', ...setup].map(setupFile),
          setupFiles: own ? [setupFile(own)] : [],
        },
      }),
    ),
  },
});
