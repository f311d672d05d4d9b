// The command `test:cluster`: the images, the suite against the cluster that KUBECONFIG names, a table of figures; then it
// deletes the namespaces it made (KEEP=1 leaves them). test/README.md lists its variables. Words after the command go to
// vitest: `--testNamePattern=…`.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeAuthority } from './certificates.ts';
import { tableOf } from './figures.ts';
import { BuildFailure, bringImages } from './images.ts';
import { helmProgram, kubectlProgram, runLabel } from './settings.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

try {
  checkSurroundings();
  const { variables, remove } = await bringImages(root, (line) => console.log(line));
  process.once('exit', remove);
  process.exitCode = runSuite(variables);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  if (error instanceof BuildFailure) console.log('0 passed, 1 failed');
  process.exitCode = error instanceof BuildFailure ? 1 : 2;
}

/** Throws one sentence about what is missing. */
function checkSurroundings(): void {
  const missing = [kubectlProgram, helmProgram, 'openssl'].filter((program) => !onPath(program));
  if (missing.length > 0) throw new Error(`Install ${missing.join(', ')}, or name them by KUBECTL and HELM.`);
  const nodes = spawnSync(kubectlProgram, ['get', 'nodes', '--request-timeout=10s'], { encoding: 'utf8' });
  if (nodes.status !== 0) {
    throw new Error(
      `No cluster answers: set KUBECONFIG to the file of a cluster that may be tested on (${nodes.stderr.trim().split('\n').at(-1)}).`,
    );
  }
}

function onPath(program: string): boolean {
  const folders = program.includes('/') ? [''] : (process.env.PATH ?? '').split(delimiter);
  return folders.some((folder) => existsSync(join(folder, program)));
}

function runSuite(images: NodeJS.ProcessEnv): number {
  const directory = mkdtempSync(join(tmpdir(), 'course-exchange-cluster-'));
  const name = randomBytes(3).toString('hex');
  const stop = () => cleanUp(name, directory);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  process.once('exit', stop);
  makeAuthority(directory);
  const report = join(directory, 'report.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const words = ['run', '--config=test/vitest.config.ts', '--project=cluster', ...reporters];
  words.push(...process.argv.slice(2));
  const { status } = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', ...words], {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      ...images,
      CLUSTER_RUN_DIRECTORY: directory,
      CLUSTER_RUN_NAME: name,
      NODE_EXTRA_CA_CERTS: join(directory, 'ca.crt'),
    },
  });
  console.log(`\n${tableOf(join(directory, 'figures.jsonl'))}\n\n${countOf(report)}`);
  return status ?? 1;
}

/** The last line, as `test` writes it too. A suite that could not be made ready is one failure. */
function countOf(report: string): string {
  if (!existsSync(report)) return '0 passed, 1 failed';
  const counts = JSON.parse(readFileSync(report, 'utf8')) as Record<string, number>;
  const { numPassedTests = 0, numFailedTests = 0, numFailedTestSuites = 0 } = counts;
  return `${numPassedTests} passed, ${numFailedTests || Math.min(1, numFailedTestSuites)} failed`;
}

function cleanUp(name: string, directory: string): void {
  if (process.env.KEEP === '1') {
    console.log(`Kept: the namespaces of run ${name}, and ${directory}.`);
    return;
  }
  const mine = `${runLabel}=${name}`;
  spawnSync(kubectlProgram, ['delete', 'namespaces', `--selector=${mine}`, '--timeout=120s'], {
    stdio: 'inherit',
  });
  rmSync(directory, { recursive: true, force: true });
}
