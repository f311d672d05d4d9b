// The suites as vitest projects. Three files run side by side, whatever their suites: they wait more than they compute. Each
// worker has a stack and stores that no other test touches. Suites that change the machine run file after file.
import { join } from 'node:path';
import { generateChartFiles } from '@course-exchange/observability/generate';
import { generateProto } from '@course-exchange/proto/generate';
import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';
import { root } from './check/step.ts';
import { ClauseReporter } from './contract/reporter.ts';
import { suites } from './suites.ts';

generateProto();
generateChartFiles();

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
      ([name, { include, setup = [], own, timeoutMs = 120_000, alone }]) => ({
        root,
        test: {
          name,
          include: [...(include ?? [`test/${name}/**/*.test.ts`])],
          exclude: ['**/node_modules/**'],
          testTimeout: timeoutMs,
          hookTimeout: 180_000,
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
