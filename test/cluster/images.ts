// Brings the images into the cluster: builds those of the product unless IMAGE_TAG names some, finds the stores, and hands
// each to the command LOAD_IMAGE. Without LOAD_IMAGE the cluster pulls all of them. Where it builds, it builds those of the
// commit before too, from which the upgrade starts.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { imageNames } from '../../deploy/images/programs.ts';
import { findEngine } from '../containers/engine.ts';
import {
  collector,
  openWorkshop,
  prometheus,
  type StoreImages,
  storeImages,
  toolImage,
} from '../containers/images.ts';

interface Images {
  readonly root: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly say: (line: string) => void;
  /** Words of deploy/images/build.ts. */
  readonly words: readonly string[];
}

export interface Brought {
  /** Name the images, and the chart of the commit before. */
  readonly variables: NodeJS.ProcessEnv;
  readonly remove: () => void;
}

/** Throws one sentence about what is missing. */
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
    const workshop = openWorkshop(engine);
    const stores = storeImages(workshop, say);
    const tools = {
      PROMETHEUS_IMAGE: process.env.PROMETHEUS_IMAGE ?? toolImage(workshop, prometheus, say),
      COLLECTOR_IMAGE: process.env.COLLECTOR_IMAGE ?? toolImage(workshop, collector, say),
    };
    const environment = { ...process.env, DOCKER_HOST: engine.host, DOCKER: engine.client };
    const words = stores.offline ? ['--offline'] : [];
    return loadAll(load, { root, say, environment, words }, stores, tools);
  } finally {
    await engine.stop();
  }
}

function loadAll(
  load: string,
  images: Images,
  stores: StoreImages,
  tools: Readonly<Record<string, string>>,
): Brought {
  const { IMAGE_TAG, IMAGE_TAG_BEFORE, IMAGE_PREFIX = 'course-exchange' } = process.env;
  const tag = IMAGE_TAG ?? 'test';
  const before = IMAGE_TAG === undefined ? buildBoth(images, tag) : undefined;
  const tagBefore = before ? `${tag}-before` : (IMAGE_TAG_BEFORE ?? tag);
  const tags = [...new Set([tag, tagBefore])];
  const own = tags.flatMap((each) => imageNames.map((name) => `${IMAGE_PREFIX}/${name}:${each}`));
  const others = Object.values(tools).filter((image) => image !== '');
  for (const image of [stores.postgres, stores.redis, ...others, ...own]) {
    images.say(`Loading ${image} …`);
    const { status, said } = run('sh', ['-c', `${load} "$0"`, image], images.root, images.environment);
    if (status !== 0) throw new Error(`${load} ${image} failed: ${said}`);
  }
  const variables = {
    POSTGRES_IMAGE: stores.postgres,
    REDIS_IMAGE: stores.redis,
    ...tools,
    IMAGE_TAG: tag,
    IMAGE_TAG_BEFORE: tagBefore,
    ...(before ? { CHART_BEFORE: before.chart } : {}),
  };
  return { variables, remove: before?.remove ?? (() => {}) };
}

function buildBoth(images: Images, tag: string): PreviousVersion | undefined {
  images.say('Building the images …');
  const { status, said } = build(images, images.root, tag);
  if (status !== 0) throw new Error(said);
  return buildPreviousVersion(images, `${tag}-before`);
}

function build({ environment, words }: Images, cwd: string, tag: string) {
  const env = { ...environment, IMAGE_TAG: tag };
  return run(process.execPath, ['deploy/images/build.ts', ...words], cwd, env);
}

interface PreviousVersion {
  /** Its chart, in a work tree that `remove` takes away. */
  readonly chart: string;
  readonly remove: () => void;
}

/** Undefined, with a line that says why, where there is no such commit or it cannot be built with the bases at hand. */
function buildPreviousVersion(images: Images, tag: string): PreviousVersion | undefined {
  const { root, say } = images;
  const git = (...parts: string[]) => run('git', parts, root, process.env);
  const without = (why: string) => {
    say(`The upgrade starts from this very commit: ${why}.`);
    return undefined;
  };
  const commit = git('rev-parse', '--verify', '--quiet', 'HEAD^').stdout.trim();
  if (commit === '') return without('the one before is not in this clone');
  const tree = mkdtempSync(join(tmpdir(), 'course-exchange-before-'));
  const remove = () => void git('worktree', 'remove', '--force', tree);
  if (git('worktree', 'add', '--force', '--detach', tree, commit).status !== 0)
    return without('no work tree can be made of the one before');
  const reason = reasonAgainst(tree, root);
  if (reason === undefined) {
    say(`Building the images of the commit before, ${commit.slice(0, 9)} …`);
    const { status, said } = build(images, tree, tag);
    if (status === 0) return { chart: join(tree, 'helm/course-exchange'), remove };
    say(said);
  }
  remove();
  return without(reason ?? 'the one before cannot be built');
}

function reasonAgainst(tree: string, root: string): string | undefined {
  const same = (file: string) => contentOf(join(tree, file)) === contentOf(join(root, file));
  if (!existsSync(join(tree, 'helm/course-exchange'))) return 'the one before has no chart';
  const begun = ['services/identity/migrations', 'services/design-catalog/migrations'].map((folder) =>
    join(folder, readdirSync(join(root, folder)).sort()[0] ?? ''),
  );
  if (!begun.every(same)) return 'the one before begins its schemas with other migrations';
  if (!same('pnpm-lock.yaml'))
    return 'the one before has other packages, which the base of the images does not hold';
  return undefined;
}

function contentOf(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

/** `said`: its errors, else its output. */
function run(program: string, words: readonly string[], cwd: string, env: NodeJS.ProcessEnv) {
  const { status, stdout, stderr } = spawnSync(program, words, { cwd, env, encoding: 'utf8' });
  return { status, stdout, said: stderr || stdout };
}
