// The suites as vitest projects. Those that share one deployment run file after file, so that no test changes the store
// under another; test/run.ts starts the projects.
import { fileURLToPath } from 'node:url';
import { generateProto } from '@course-exchange/proto/generate';
import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';

type Suite = {
  readonly include: string[];
  readonly setup?: string;
  readonly setupFile?: string;
  readonly timeoutMs?: number;
  /** Files that run beside one another; one by one where nothing is said. */
  readonly workers?: number;
};

generateProto();

const root = fileURLToPath(new URL('..', import.meta.url));
const storeSetup = fileURLToPath(new URL('./support/store-setup.ts', import.meta.url));
const stackSetup = fileURLToPath(new URL('./support/stack-setup.ts', import.meta.url));
const helmSetup = fileURLToPath(new URL('./chart/setup.ts', import.meta.url));

const suites: Record<string, Suite> = {
  unit: {
    include: [
      'services/**/*.test.ts',
      'proto/*.test.ts',
      'deploy/**/*.test.ts',
      'test/{run,check,generate,support}/*.test.ts',
    ],
    timeoutMs: 60_000,
  },
  rpc: { include: ['test/rpc/**/*.test.ts'], setup: stackSetup },
  // Most of their time is waiting; each worker has stores of its own.
  stores: {
    include: ['test/stores/**/*.test.ts'],
    setup: storeSetup,
    setupFile: fileURLToPath(new URL('./support/store-worker.ts', import.meta.url)),
    workers: process.env.TEST_POSTGRES_URL ? 1 : 2,
    timeoutMs: 180_000,
  },
  contract: { include: ['test/contract/**/*.test.ts'], setup: stackSetup },
  e2e: { include: ['test/e2e/**/*.test.ts'], setup: stackSetup, timeoutMs: 120_000 },
  clients: {
    include: ['test/clients/**/*.test.ts'],
    setup: stackSetup,
    timeoutMs: 120_000,
  },
  hostile: {
    include: ['test/hostile/**/*.test.ts'],
    setup: stackSetup,
    timeoutMs: 120_000,
  },
  secrets: { include: ['test/secrets/**/*.test.ts'], setup: stackSetup },
  operator: {
    include: ['test/operator/**/*.test.ts'],
    setup: stackSetup,
    timeoutMs: 120_000,
  },
  fault: { include: ['test/fault/**/*.test.ts'], timeoutMs: 120_000 },
  stack: { include: ['test/stack/**/*.test.ts'], timeoutMs: 180_000 },
  chart: {
    include: ['test/chart/**/*.test.ts'],
    setup: helmSetup,
    timeoutMs: 120_000,
  },
  docs: { include: ['test/docs/**/*.test.ts'] },
  // Needs a Docker engine and images: test/containers/run.ts finds or makes both, and no other command runs it.
  containers: {
    include: ['test/containers/**/*.test.ts'],
    setupFile: fileURLToPath(new URL('./containers/sweep.ts', import.meta.url)),
    timeoutMs: 180_000,
  },
  // Needs Prometheus: test/observability/run.ts finds or fetches it, and no other command runs it.
  observability: {
    include: ['test/observability/**/*.test.ts'],
    setup: helmSetup,
    timeoutMs: 600_000,
  },
  // Needs a cluster: test/cluster/run.ts brings images into it, and no other command runs it.
  cluster: { include: ['test/cluster/**/*.test.ts'], timeoutMs: 600_000 },
};

/** By name, in every clone alike: vitest would begin with the files that took longest here the last time. */
class OrderedByName extends BaseSequencer {
  override async sort(files: Parameters<BaseSequencer['sort']>[0]): ReturnType<BaseSequencer['sort']> {
    const nameOf = ({ project, moduleId }: (typeof files)[number]) => `${project.name} ${moduleId}`;
    return files.toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: OrderedByName },
    projects: Object.entries(suites).map(([name, suite]) => ({
      root,
      test: {
        name,
        include: suite.include,
        exclude: ['**/node_modules/**'],
        testTimeout: suite.timeoutMs ?? 120_000,
        expect: { poll: { timeout: 30_000 } },
        hookTimeout: 180_000,
        ...(name === 'unit' ? {} : { maxWorkers: suite.workers ?? 1 }),
        fileParallelism: name === 'unit' || suite.workers !== undefined,
        isolate: name === 'unit' || name === 'rpc',
        ...(suite.setup === undefined ? {} : { globalSetup: [suite.setup] }),
        ...(suite.setupFile === undefined ? {} : { setupFiles: [suite.setupFile] }),
      },
    })),
  },
});
