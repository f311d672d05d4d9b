// The images that the suite runs: pulled where a registry answers, else made from packages by deploy/offline-images.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Engine } from './engine.ts';
import { obtain, onPath } from './programs.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const prefix = process.env.OFFLINE_IMAGE_PREFIX ?? 'course-exchange-offline';
const official = { postgres: 'postgres:18', redis: 'redis:8' };
const ownStores = { postgres: `${prefix}/postgres:18`, redis: `${prefix}/redis:7` };
const ownBases = [`${prefix}/run:bookworm`, `${prefix}/build:bookworm`];
const toxiproxy = { official: 'ghcr.io/shopify/toxiproxy:2.12.0', own: `${prefix}/toxiproxy:2` };

const withoutDebootstrap =
  'No image can be pulled, and debootstrap, which makes them from packages, is missing: install it as root ' +
  '(on Debian apt-get install debootstrap), or name images by POSTGRES_IMAGE, REDIS_IMAGE and IMAGE_TAG.';
const withoutToxiproxy =
  'No toxiproxy: install Go or name an image by TOXIPROXY_IMAGE. The suite "network" is left out.';

export type ImageVariables = Readonly<
  Record<'IMAGE_TAG' | 'POSTGRES_IMAGE' | 'REDIS_IMAGE' | 'TOXIPROXY_IMAGE', string>
>;

type Say = (line: string) => void;

/** Throws a sentence that says what is missing. */
export function prepareImages(engine: Engine, say: Say): ImageVariables {
  const workshop = openWorkshop(engine);
  const registry = Object.values(official).every(workshop.available);
  if (!registry) makeStores(workshop, say);
  const { IMAGE_TAG } = process.env;
  if (IMAGE_TAG === undefined) workshop.buildServices(!registry);
  const stores = registry ? official : ownStores;
  return {
    IMAGE_TAG: IMAGE_TAG ?? 'test',
    POSTGRES_IMAGE: process.env.POSTGRES_IMAGE ?? stores.postgres,
    REDIS_IMAGE: process.env.REDIS_IMAGE ?? stores.redis,
    TOXIPROXY_IMAGE: process.env.TOXIPROXY_IMAGE ?? toxiproxyImage(workshop, say),
  };
}

type Workshop = ReturnType<typeof openWorkshop>;

function openWorkshop({ host, client }: Engine) {
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
      if (!run('bash', 'deploy/offline-images/make.sh', ...names))
        throw new Error(`The images of ${names.join(' and ')} cannot be made; the lines above say why.`);
    },
    buildServices: (offline: boolean) => {
      if (!run(process.execPath, 'deploy/images/build.ts', ...(offline ? ['--offline'] : [])))
        throw new Error('The images of the services cannot be built; the lines above say why.');
    },
  };
}

function makeStores({ has, make }: Workshop, say: Say): void {
  say('No registry answers: the images are made from packages.');
  const all = [...Object.values(ownStores), ...ownBases];
  if (!all.every(has) && !obtain('debootstrap', ['debootstrap'], say)) throw new Error(withoutDebootstrap);
  const missing = Object.entries(ownStores).flatMap(([name, image]) => (has(image) ? [] : [name]));
  if (missing.length > 0) make(...missing);
}

/** Empty where there is none. */
function toxiproxyImage({ has, available, make }: Workshop, say: Say): string {
  if (has(toxiproxy.own)) return toxiproxy.own;
  if (available(toxiproxy.official)) return toxiproxy.official;
  if (!onPath('go')) {
    say(withoutToxiproxy);
    return '';
  }
  make('toxiproxy');
  return toxiproxy.own;
}
