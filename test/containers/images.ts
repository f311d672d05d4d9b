// The images that the suite runs: pulled where a registry answers, else made from packages by .ci/offline-images.
import { spawnSync } from 'node:child_process';
import { root } from '../check/step.ts';
import { type Engine, obtain, onPath } from './engine.ts';

const prefix = process.env.OFFLINE_IMAGE_PREFIX ?? 'course-exchange-offline';
const official = { postgres: 'postgres:18', redis: 'redis:8' };
const ownStores = { postgres: `${prefix}/postgres:18`, redis: `${prefix}/redis:7` };
const ownBases = [`${prefix}/run:bookworm`, `${prefix}/build:bookworm`];

const collector = {
  official: 'docker.io/otel/opentelemetry-collector-contrib:0.160.0',
  own: `${prefix}/otelcol:0`,
};

type Say = (line: string) => void;

/** Gives the variables that name the images. Throws a sentence that says what is missing. */
export function prepareImages({ host, client }: Engine, say: Say) {
  const { IMAGE_TAG, POSTGRES_IMAGE, REDIS_IMAGE } = process.env;
  const env = { IMAGE_TAG: 'test', ...process.env, DOCKER_HOST: host, DOCKER: client };
  const engine = (...words: string[]) =>
    spawnSync(client, words, { env, stdio: 'ignore', timeout: 120_000 }).status === 0;
  const run = (program: string, ...words: string[]): void => {
    if (spawnSync(program, words, { cwd: root, env, stdio: 'inherit' }).status !== 0)
      throw new Error(`${words.join(' ')} failed; the lines above say why.`);
  };
  const has = (image: string) => engine('image', 'inspect', image);
  const isAvailable = (image: string) => has(image) || engine('pull', '--quiet', image);
  const make = (...names: readonly string[]) => run('bash', '.ci/offline-images/make.sh', ...names);

  const isOffline = !Object.values(official).every(isAvailable);
  if (isOffline) {
    say('No registry answers: the images are made from packages.');
    const missing = Object.entries(ownStores).flatMap(([name, image]) => (has(image) ? [] : [name]));
    // Their script says what to do where it is missing.
    if (missing.length > 0 || !ownBases.every(has)) obtain('debootstrap', ['debootstrap'], say);
    if (missing.length > 0) make(...missing);
  }
  const stores = isOffline ? ownStores : official;
  if (IMAGE_TAG === undefined)
    run(process.execPath, 'deploy/images/build.ts', ...(isOffline ? ['--offline'] : []));
  return {
    images: {
      IMAGE_TAG: IMAGE_TAG ?? 'test',
      POSTGRES_IMAGE: POSTGRES_IMAGE ?? stores.postgres,
      REDIS_IMAGE: REDIS_IMAGE ?? stores.redis,
    },
    /** Empty where there is none. */
    collectorImage: (): string => {
      if (process.env.COLLECTOR_IMAGE !== undefined) return process.env.COLLECTOR_IMAGE;
      if (has(collector.own)) return collector.own;
      if (isAvailable(collector.official)) return collector.official;
      if (onPath('go')) make('otelcol');
      else say('NOT RUN what the Collector keeps: no Go builds it, and COLLECTOR_IMAGE names no image of it');
      return onPath('go') ? collector.own : '';
    },
  };
}
