// vitest's globalSetup of the suite on a cluster: brings the images into the cluster that KUBECONFIG names; at its end the
// namespaces are deleted (KEEP=1 leaves them). test/README.md lists its variables.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { imageNames } from '../../deploy/images/programs.ts';
import { root } from '../check/step.ts';
import { helmProgram, kubectlProgram, runLabel } from '../cluster/kube.ts';
import { findEngine, onPath, prepareImages } from '../containers/engine.ts';

export async function setup(): Promise<() => void> {
  checkSurroundings();
  const { LOAD_IMAGE, IMAGE_TAG } = process.env;
  if (LOAD_IMAGE) Object.assign(process.env, await bringImages(LOAD_IMAGE));
  else if (IMAGE_TAG === undefined)
    throw new Error(
      'Say how images come into the cluster: LOAD_IMAGE is a command that an image name is appended to, such as ' +
        '"kind load docker-image"; or name images that the cluster can pull by IMAGE_PREFIX and IMAGE_TAG.',
    );
  process.env.CLUSTER_RUN_NAME = randomBytes(3).toString('hex');
  return cleanUp;
}

/** Throws one sentence about what is missing. */
function checkSurroundings(): void {
  const missing = [kubectlProgram, helmProgram].filter((program) => !existsSync(program) && !onPath(program));
  if (missing.length > 0) throw new Error(`Install ${missing.join(', ')}, or name them by KUBECTL and HELM.`);
  const nodes = spawnSync(kubectlProgram, ['get', 'nodes', '--request-timeout=10s'], { encoding: 'utf8' });
  if (nodes.status !== 0)
    throw new Error(
      `No cluster answers: set KUBECONFIG to the file of a cluster that may be tested on (${nodes.stderr.trim().split('\n').at(-1)}).`,
    );
}

/** Builds or finds them, and hands each to the command `load`. Gives the variables that name them. */
async function bringImages(load: string): Promise<NodeJS.ProcessEnv> {
  const { IMAGE_PREFIX = 'course-exchange' } = process.env;
  const engine = await findEngine();
  try {
    const { images } = prepareImages(engine);
    const { IMAGE_TAG, ...stores } = images;
    const env = { ...process.env, DOCKER_HOST: engine.host, DOCKER: engine.client };
    const own = imageNames.map((name) => `${IMAGE_PREFIX}/${name}:${IMAGE_TAG}`);
    for (const image of [...Object.values(stores), ...own]) {
      console.log(`Loading ${image} …`);
      const words = ['-c', `${load} "$0"`, image];
      const { status, stderr } = spawnSync('sh', words, { cwd: root, env, encoding: 'utf8' });
      if (status !== 0) throw new Error(`${load} ${image} failed: ${stderr}`);
    }
    return images;
  } finally {
    await engine.stop();
  }
}

/** The cluster ends them by itself: this process must be free to hear that its workers have ended. */
function cleanUp(): void {
  const mine = `--selector=${runLabel}=${process.env.CLUSTER_RUN_NAME}`;
  if (process.env.KEEP === '1') console.log(`Kept: the namespaces with ${mine}.`);
  else spawnSync(kubectlProgram, ['delete', 'namespaces', mine, '--wait=false'], { stdio: 'inherit' });
}
