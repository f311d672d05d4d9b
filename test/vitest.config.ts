// The suites as vitest projects. Three files run side by side, whatever their suites: they wait more than they compute. Each
// worker has a stack and stores that no other test touches. Suites that change the machine run file after file.
import { join } from 'node:path';
import { leaveOutShell } from '@course-exchange/local-stack/shell';
import { generateChartFiles } from '@course-exchange/observability/generate';
import { generateProto } from '@course-exchange/proto/generate';
import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';
import { root } from './check/step.ts';
import { ClauseReporter } from './contract/reporter.ts';
import { type Need, Supplies } from './setup/supplies.ts';

leaveOutShell();
generateProto();
generateChartFiles();

interface Suite {
  /** By default `test/NAME`. */
  readonly include?: readonly string[];
  /** Files of `test/setup`: what is started or found once, and what each worker learns of it. */
  readonly setup?: readonly string[];
  readonly own?: string;
  /** Brought before it runs; it does not run without them. */
  readonly needs?: readonly Need[];
  /** Brought too; without one its tests are skipped. */
  readonly wants?: readonly Need[];
  /** After which a test counts as hung, on a busy machine too. */
  readonly timeoutMs?: number;
  /** File after file. */
  readonly alone?: boolean;
}

const stores = 'services/**/*.stores.test.ts';
const beside = ['services/**/!(*.stores).test.ts', 'deploy/**/*.test.ts'];
const onStack = { setup: ['stacks'], needs: ['redis'] } as const;

export const suites: Readonly<Record<string, Suite>> = {
  e2e: { ...onStack, needs: ['redis', 'chromium'] },
  hostile: { ...onStack, wants: ['nginx'] },
  // Before the operator, who brings more data.
  contract: onStack,
  operator: onStack,
  stack: { needs: ['redis'] },
  stores: {
    include: [stores, 'test/stores/*.test.ts'],
    setup: ['stores'],
    own: 'own-stores',
    needs: ['redis', 'openssl'],
  },
  chart: { needs: ['helm'] },
  rpc: { ...onStack, needs: ['redis', 'openssl'] },
  secrets: { needs: ['redis', 'openssl'] },
  clients: { ...onStack, needs: ['redis', 'python'] },
  docs: {},
  unit: { include: [...beside, 'test/*.test.ts', 'test/check/*.test.ts'] },
  // The other tiers.
  examples: { needs: ['redis', 'python', 'chromium'] },
  faults: { alone: true, needs: ['redis', 'openssl'] },
  containers: { setup: ['containers'], own: 'own-containers', alone: true, needs: ['openssl'] },
  observability: { timeoutMs: 600_000, alone: true, needs: ['redis', 'prometheus', 'promtool', 'helm'] },
  cluster: { setup: ['cluster'], alone: true, timeoutMs: 600_000, needs: ['openssl'] },
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

const supplies = new Supplies(suites);

/** A deployment that is given is one for all. */
const isGiven = Boolean(process.env.STACK_FILE);
const setupFile = (name: string) => join(import.meta.dirname, 'setup', `${name}.ts`);

export default defineConfig({
  test: {
    sequence: { sequencer: InOrder },
    reporters: ['default', supplies, new ClauseReporter(undefined, supplies.excused)],
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
