// The suites as vitest projects. Suites that share one deployment run file after file, so that no test
// changes the store under another; test/run.ts starts the projects one after the other.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

type Suite = {
  readonly include: string[];
  readonly setup?: string;
  readonly setupFile?: string;
  readonly timeoutMs?: number;
};

const root = fileURLToPath(new URL('..', import.meta.url));
const storeSetup = fileURLToPath(new URL('./support/store-setup.ts', import.meta.url));
const stackSetup = fileURLToPath(new URL('./support/stack-setup.ts', import.meta.url));

const suites: Record<string, Suite> = {
  unit: {
    include: [
      'services/**/*.test.ts',
      'proto/*.test.ts',
      'deploy/**/*.test.ts',
      'test/{run,check,support}/*.test.ts',
    ],
    timeoutMs: 20_000,
  },
  rpc: { include: ['test/rpc/**/*.test.ts'], setup: stackSetup },
  stores: { include: ['test/stores/**/*.test.ts'], setup: storeSetup },
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
    setup: fileURLToPath(new URL('./chart/setup.ts', import.meta.url)),
    timeoutMs: 120_000,
  },
  docs: { include: ['test/docs/**/*.test.ts'] },
  // Needs a Docker engine and images: test/containers/run.ts finds or makes both, and no other command runs it.
  containers: {
    include: ['test/containers/**/*.test.ts'],
    setupFile: fileURLToPath(new URL('./containers/sweep.ts', import.meta.url)),
    timeoutMs: 180_000,
  },
  // Needs a cluster: test/cluster/run.ts brings images into it, and no other command runs it.
  cluster: { include: ['test/cluster/**/*.test.ts'], timeoutMs: 600_000 },
};

export default defineConfig({
  test: {
    projects: Object.entries(suites).map(([name, suite]) => ({
      root,
      test: {
        name,
        include: suite.include,
        exclude: ['**/node_modules/**'],
        testTimeout: suite.timeoutMs ?? 60_000,
        hookTimeout: 180_000,
        fileParallelism: name === 'unit',
        isolate: name === 'unit' || name === 'rpc',
        ...(suite.setup === undefined ? {} : { globalSetup: [suite.setup] }),
        ...(suite.setupFile === undefined ? {} : { setupFiles: [suite.setupFile] }),
      },
    })),
  },
});
