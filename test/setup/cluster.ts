// vitest's globalSetup of the suite on a cluster: the images, brought into the cluster that KUBECONFIG names; at its end the
// namespaces are deleted (KEEP=1 leaves them). test/README.md lists its variables.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { bringImages } from '../cluster/images.ts';
import { helmProgram, kubectlProgram, runLabel } from '../cluster/settings.ts';
import { onPath } from '../containers/engine.ts';

export async function setup(): Promise<() => void> {
  checkSurroundings();
  const variables = await bringImages((line) => console.log(line));
  const name = randomBytes(3).toString('hex');
  Object.assign(process.env, variables, { CLUSTER_RUN_NAME: name });
  return () => cleanUp(name);
}

/** Throws one sentence about what is missing. */
function checkSurroundings(): void {
  const missing = [kubectlProgram, helmProgram].filter((program) => !existsSync(program) && !onPath(program));
  if (missing.length > 0) throw new Error(`Install ${missing.join(', ')}, or name them by KUBECTL and HELM.`);
  const nodes = spawnSync(kubectlProgram, ['get', 'nodes', '--request-timeout=10s'], { encoding: 'utf8' });
  if (nodes.status !== 0) {
    throw new Error(
      `No cluster answers: set KUBECONFIG to the file of a cluster that may be tested on (${nodes.stderr.trim().split('\n').at(-1)}).`,
    );
  }
}

/** The cluster ends them by itself: this process must be free to hear that its workers have ended. */
function cleanUp(name: string): void {
  if (process.env.KEEP === '1') {
    console.log(`Kept: the namespaces of run ${name}.`);
    return;
  }
  const mine = `--selector=${runLabel}=${name}`;
  spawnSync(kubectlProgram, ['delete', 'namespaces', mine, '--wait=false'], { stdio: 'inherit' });
}
