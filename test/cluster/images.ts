// Brings the images into the cluster: builds those of the product unless IMAGE_TAG names some, finds the stores, and hands
// each to the command LOAD_IMAGE. Without LOAD_IMAGE the cluster pulls all of them.
import { spawnSync } from 'node:child_process';
import { imageNames } from '../../deploy/images/programs.ts';
import { type Engine, findEngine } from '../containers/engine.ts';

const offlinePrefix = process.env.OFFLINE_IMAGE_PREFIX ?? 'course-exchange-offline';
const official = { postgres: 'postgres:18', redis: 'redis:8' };
const ownStores = { postgres: `${offlinePrefix}/postgres:18`, redis: `${offlinePrefix}/redis:7` };

interface Images {
  readonly root: string;
  readonly client: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly say: (line: string) => void;
}

/** Gives the variables that name the images. Throws one sentence about what is missing. */
export async function bringImages(root: string, say: (line: string) => void): Promise<NodeJS.ProcessEnv> {
  const load = process.env.LOAD_IMAGE ?? '';
  if (load === '' && process.env.IMAGE_TAG === undefined) {
    throw new Error(
      'Say how images come into the cluster: LOAD_IMAGE is a command that an image name is appended to, such as ' +
        '"kind load docker-image"; or name images that the cluster can pull by IMAGE_PREFIX and IMAGE_TAG.',
    );
  }
  if (load === '') return {};
  const engine = await findEngine(say);
  try {
    return loadAll(load, imagesOf(root, engine, say));
  } finally {
    await engine.stop();
  }
}

function imagesOf(root: string, { host, client }: Engine, say: (line: string) => void): Images {
  return { root, client, say, environment: { ...process.env, DOCKER_HOST: host, DOCKER: client } };
}

function loadAll(load: string, images: Images): NodeJS.ProcessEnv {
  const { IMAGE_TAG, IMAGE_TAG_BEFORE, IMAGE_PREFIX = 'course-exchange' } = process.env;
  const stores = findStores(images);
  const tag = IMAGE_TAG ?? 'test';
  if (IMAGE_TAG === undefined) {
    images.say('Building the images …');
    const words = ['deploy/images/build.ts', ...(stores === ownStores ? ['--offline'] : [])];
    call({ ...images, environment: { ...images.environment, IMAGE_TAG: tag } }, process.execPath, ...words);
  }
  const tags = [...new Set([tag, IMAGE_TAG_BEFORE ?? tag])];
  const own = tags.flatMap((each) => imageNames.map((name) => `${IMAGE_PREFIX}/${name}:${each}`));
  for (const image of [...Object.values(stores), ...own]) {
    images.say(`Loading ${image} …`);
    call(images, 'sh', '-c', `${load} "$0"`, image);
  }
  return { POSTGRES_IMAGE: stores.postgres, REDIS_IMAGE: stores.redis, IMAGE_TAG: tag };
}

/** The official ones, else those made from packages. */
function findStores(images: Images): typeof official {
  const has = (image: string) => docker(images, 'image', 'inspect', image);
  if (Object.values(official).every((image) => has(image) || docker(images, 'pull', '--quiet', image)))
    return official;
  const missing = Object.entries(ownStores).flatMap(([name, image]) => (has(image) ? [] : [name]));
  if (missing.length > 0) call(images, 'bash', 'deploy/offline-images/make.sh', ...missing);
  return ownStores;
}

function docker({ client, environment }: Images, ...words: string[]): boolean {
  return spawnSync(client, words, { env: environment, stdio: 'ignore', timeout: 120_000 }).status === 0;
}

function call({ root, environment }: Images, program: string, ...words: string[]): void {
  const { status, stdout, stderr } = spawnSync(program, words, {
    cwd: root,
    env: environment,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${program} ${words.join(' ')} failed: ${stderr || stdout}`);
}
