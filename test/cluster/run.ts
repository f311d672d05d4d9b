// The command `test:cluster`: the images, the suite against the cluster that KUBECONFIG names, its figures; then it
// deletes the namespaces it made (KEEP=1 leaves them). test/README.md lists its variables. Words after the command go to
// vitest: `--testNamePattern=…`.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onPath } from '../containers/engine.ts';
import { BuildFailure } from '../containers/images.ts';
import { runMeasuredSuite } from '../run/measured-suite.ts';
import { makeAuthority } from './certificates.ts';
import { bringImages } from './images.ts';
import { helmProgram, kubectlProgram, runLabel } from './settings.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

try {
  checkSurroundings();
  const { variables, remove } = await bringImages(root, (line) => console.log(line));
  process.once('exit', remove);
  process.exitCode = await runSuite(variables);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  if (error instanceof BuildFailure) console.log('0 passed, 1 failed');
  process.exitCode = error instanceof BuildFailure ? 1 : 2;
}

/** Throws one sentence about what is missing. */
function checkSurroundings(): void {
  const missing = [kubectlProgram, helmProgram, 'openssl'].filter(
    (program) => !existsSync(program) && !onPath(program),
  );
  if (missing.length > 0) throw new Error(`Install ${missing.join(', ')}, or name them by KUBECTL and HELM.`);
  const nodes = spawnSync(kubectlProgram, ['get', 'nodes', '--request-timeout=10s'], { encoding: 'utf8' });
  if (nodes.status !== 0) {
    throw new Error(
      `No cluster answers: set KUBECONFIG to the file of a cluster that may be tested on (${nodes.stderr.trim().split('\n').at(-1)}).`,
    );
  }
}

function runSuite(images: NodeJS.ProcessEnv): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'course-exchange-cluster-'));
  const name = randomBytes(3).toString('hex');
  const stop = () => cleanUp(name, directory);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  process.once('exit', stop);
  makeAuthority(directory);
  return runMeasuredSuite('cluster', {
    ...process.env,
    ...images,
    CLUSTER_RUN_DIRECTORY: directory,
    CLUSTER_RUN_NAME: name,
  });
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
