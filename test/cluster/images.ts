// Brings the images into the cluster: builds those of the product unless IMAGE_TAG names some, finds the stores, and hands
// each to the command LOAD_IMAGE. Without LOAD_IMAGE the cluster pulls all of them. Where it builds, it builds those of the
// commit before too, from which the upgrade starts.
import { spawnSync } from 'node:child_process';
import { imageNames } from '../../deploy/images/programs.ts';
import { type Engine, findEngine } from '../containers/engine.ts';
import { buildCommitBefore, type CommitBefore } from './commit-before.ts';

const offlinePrefix = process.env.OFFLINE_IMAGE_PREFIX ?? 'course-exchange-offline';
const official = { postgres: 'postgres:18', redis: 'redis:8' };
const ownStores = { postgres: `${offlinePrefix}/postgres:18`, redis: `${offlinePrefix}/redis:7` };

interface Images {
  readonly root: string;
  readonly client: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly say: (line: string) => void;
}

/** The product's own images do not build: a failure, and no lack of this machine. */
export class BuildFailure extends Error {}

export interface Brought {
  /** Name the images, and the chart of the commit before. */
  readonly variables: NodeJS.ProcessEnv;
  readonly remove: () => void;
}

/** Throws one sentence about what is missing, or BuildFailure. */
export async function bringImages(root: string, say: (line: string) => void): Promise<Brought> {
  const load = process.env.LOAD_IMAGE ?? '';
  if (load === '' && process.env.IMAGE_TAG === undefined) {
    throw new Error(
      'Say how images come into the cluster: LOAD_IMAGE is a command that an image name is appended to, such as ' +
        '"kind load docker-image"; or name images that the cluster can pull by IMAGE_PREFIX and IMAGE_TAG.',
    );
  }
  if (load === '') return { variables: {}, remove: () => {} };
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

function loadAll(load: string, images: Images): Brought {
  const { IMAGE_TAG, IMAGE_TAG_BEFORE, IMAGE_PREFIX = 'course-exchange' } = process.env;
  const stores = findStores(images);
  const tag = IMAGE_TAG ?? 'test';
  const before = IMAGE_TAG === undefined ? buildBoth(images, tag, stores === ownStores) : undefined;
  const tagBefore = before ? `${tag}-before` : (IMAGE_TAG_BEFORE ?? tag);
  const tags = [...new Set([tag, tagBefore])];
  const own = tags.flatMap((each) => imageNames.map((name) => `${IMAGE_PREFIX}/${name}:${each}`));
  for (const image of [...Object.values(stores), ...own]) {
    images.say(`Loading ${image} …`);
    call(images, 'sh', '-c', `${load} "$0"`, image);
  }
  const variables = {
    POSTGRES_IMAGE: stores.postgres,
    REDIS_IMAGE: stores.redis,
    IMAGE_TAG: tag,
    IMAGE_TAG_BEFORE: tagBefore,
    ...(before ? { CHART_BEFORE: before.chart } : {}),
  };
  return { variables, remove: before?.remove ?? (() => {}) };
}

function buildBoth(images: Images, tag: string, offline: boolean): CommitBefore | undefined {
  const { root, environment, say } = images;
  const words = offline ? ['--offline'] : [];
  say('Building the images …');
  try {
    const building = { ...images, environment: { ...environment, IMAGE_TAG: tag } };
    call(building, process.execPath, 'deploy/images/build.ts', ...words);
  } catch (error) {
    throw new BuildFailure(error instanceof Error ? error.message : String(error));
  }
  return buildCommitBefore({ root, environment, tag: `${tag}-before`, words, say });
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
