// Brings the images into the cluster: builds those of the product unless IMAGE_TAG names some, finds those of stores and
// tools, and hands each to the command LOAD_IMAGE. Without LOAD_IMAGE the cluster pulls all of them.
import { spawnSync } from 'node:child_process';
import { imageNames } from '../../deploy/images/programs.ts';
import { root } from '../check/step.ts';
import { findEngine } from '../containers/engine.ts';
import { prepareImages } from '../containers/images.ts';

/** Gives the variables that name the images. Throws one sentence about what is missing. */
export async function bringImages(say: (line: string) => void): Promise<NodeJS.ProcessEnv> {
  const { LOAD_IMAGE: load = '', IMAGE_TAG, IMAGE_PREFIX = 'course-exchange' } = process.env;
  if (load === '' && IMAGE_TAG === undefined) {
    throw new Error(
      'Say how images come into the cluster: LOAD_IMAGE is a command that an image name is appended to, such as ' +
        '"kind load docker-image"; or name images that the cluster can pull by IMAGE_PREFIX and IMAGE_TAG.',
    );
  }
  if (load === '') return {};
  const engine = await findEngine(say);
  try {
    const { IMAGE_TAG: tag, ...stores } = prepareImages(engine, say).images;
    const env = { ...process.env, DOCKER_HOST: engine.host, DOCKER: engine.client };
    const own = imageNames.map((name) => `${IMAGE_PREFIX}/${name}:${tag}`);
    for (const image of [...Object.values(stores), ...own]) {
      say(`Loading ${image} …`);
      const words = ['-c', `${load} "$0"`, image];
      const { status, stderr } = spawnSync('sh', words, { cwd: root, env, encoding: 'utf8' });
      if (status !== 0) throw new Error(`${load} ${image} failed: ${stderr}`);
    }
    return { ...stores, IMAGE_TAG: tag };
  } finally {
    await engine.stop();
  }
}
