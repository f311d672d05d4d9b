// The images that the suite runs: pulled where a registry answers, else made from packages by .ci/offline-images.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type Engine, obtain, onPath } from './engine.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const prefix = process.env.OFFLINE_IMAGE_PREFIX ?? 'course-exchange-offline';
const official = { postgres: 'postgres:18', redis: 'redis:8' };
const ownStores = { postgres: `${prefix}/postgres:18`, redis: `${prefix}/redis:7` };
const ownBases = [`${prefix}/run:bookworm`, `${prefix}/build:bookworm`];

/** What the tests alone use. */
interface Tool {
  readonly official: string;
  readonly own: string;
  /** Program that makes the own one. */
  readonly needs: string;
  /** Said where there is none. */
  readonly without: string;
}
export const prometheus: Tool = {
  official: 'docker.io/prom/prometheus:v3.5.0',
  own: `${prefix}/prometheus:2`,
  needs: 'apt-get',
  without: 'NOT RUN what Prometheus scrapes: no apt-get makes its image, and PROMETHEUS_IMAGE names none',
};
export const collector: Tool = {
  official: 'docker.io/otel/opentelemetry-collector-contrib:0.160.0',
  own: `${prefix}/otelcol:0`,
  needs: 'go',
  without: 'NOT RUN what the Collector keeps: no Go builds it, and COLLECTOR_IMAGE names no image of it',
};

const withoutDebootstrap =
  'No image can be pulled, and debootstrap, which makes them from packages, is missing: install it as root ' +
  '(on Debian apt-get install debootstrap), or name images by POSTGRES_IMAGE, REDIS_IMAGE and IMAGE_TAG.';

/** Names of the two stores' images, and whether they were made here. */
export interface StoreImages {
  readonly postgres: string;
  readonly redis: string;
  readonly offline: boolean;
}

export type ImageVariables = Readonly<Record<'IMAGE_TAG' | 'POSTGRES_IMAGE' | 'REDIS_IMAGE', string>>;

type Say = (line: string) => void;

/** Throws a sentence that says what is missing. */
export function prepareImages(engine: Engine, say: Say): ImageVariables {
  const workshop = openWorkshop(engine);
  const stores = storeImages(workshop, say);
  const { IMAGE_TAG } = process.env;
  if (IMAGE_TAG === undefined) workshop.buildServices(stores.offline);
  return {
    IMAGE_TAG: IMAGE_TAG ?? 'test',
    POSTGRES_IMAGE: process.env.POSTGRES_IMAGE ?? stores.postgres,
    REDIS_IMAGE: process.env.REDIS_IMAGE ?? stores.redis,
  };
}

type Workshop = ReturnType<typeof openWorkshop>;

export function openWorkshop({ host, client }: Engine) {
  const env = { IMAGE_TAG: 'test', ...process.env, DOCKER_HOST: host, DOCKER: client };
  const engine = (...words: string[]) =>
    spawnSync(client, words, { env, stdio: 'ignore', timeout: 120_000 }).status === 0;
  const run = (program: string, ...words: string[]) =>
    spawnSync(program, words, { cwd: root, env, stdio: 'inherit' }).status === 0;
  const has = (image: string) => engine('image', 'inspect', image);
  return {
    has,
    available: (image: string) => has(image) || engine('pull', '--quiet', image),
    make: (...names: readonly string[]) => {
      if (!run('bash', '.ci/offline-images/make.sh', ...names))
        throw new Error(`The images of ${names.join(' and ')} cannot be made; the lines above say why.`);
    },
    buildServices: (offline: boolean) => {
      if (!run(process.execPath, 'deploy/images/build.ts', ...(offline ? ['--offline'] : [])))
        throw new Error('The images of the services cannot be built; the lines above say why.');
    },
  };
}

/** The official ones where a registry answers, else those made from packages. */
export function storeImages({ has, available, make }: Workshop, say: Say): StoreImages {
  if (Object.values(official).every(available)) return { ...official, offline: false };
  say('No registry answers: the images are made from packages.');
  const all = [...Object.values(ownStores), ...ownBases];
  if (!all.every(has) && !obtain('debootstrap', ['debootstrap'], say)) throw new Error(withoutDebootstrap);
  const missing = Object.entries(ownStores).flatMap(([name, image]) => (has(image) ? [] : [name]));
  if (missing.length > 0) make(...missing);
  return { ...ownStores, offline: true };
}

/** Empty where there is none. */
export function toolImage({ has, available, make }: Workshop, tool: Tool, say: Say): string {
  if (has(tool.own)) return tool.own;
  if (available(tool.official)) return tool.official;
  if (!onPath(tool.needs)) {
    say(tool.without);
    return '';
  }
  make(/([^/]+):/.exec(tool.own.slice(prefix.length))?.[1] ?? '');
  return tool.own;
}
