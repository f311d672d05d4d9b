// The images that the suite runs: pulled where a registry answers, else made from packages by deploy/offline-images.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Engine } from './engine.ts';
import { obtain, onPath } from './programs.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const prefix = process.env.OFFLINE_IMAGE_PREFIX ?? 'course-exchange-offline';
const official = { postgres: 'postgres:18', redis: 'redis:8' };
const ownStores = { postgres: `${prefix}/postgres:18`, redis: `${prefix}/redis:7` };
const toxiproxy = { official: 'ghcr.io/shopify/toxiproxy:2.12.0', own: `${prefix}/toxiproxy:2` };

export type ImageVariables = Readonly<
  Record<'IMAGE_TAG' | 'POSTGRES_IMAGE' | 'REDIS_IMAGE' | 'TOXIPROXY_IMAGE', string>
>;

/** Rejects with a sentence that says what is missing. */
export function prepareImages({ host, client }: Engine, say: (line: string) => void): ImageVariables {
  const given = process.env;
  const env = { ...given, DOCKER_HOST: host, DOCKER: client, IMAGE_TAG: given.IMAGE_TAG ?? 'test' };
  const engine = (...words: string[]) =>
    spawnSync(client, words, { env, stdio: 'ignore', timeout: 120_000 }).status === 0;
  const has = (image: string) => engine('image', 'inspect', image);
  const run = (program: string, ...words: string[]) =>
    spawnSync(program, words, { cwd: root, env, stdio: 'inherit' }).status === 0;
  const make = (...names: string[]) => {
    if (!run('bash', 'deploy/offline-images/make.sh', ...names))
      throw new Error(`The images ${names.join(' and ')} cannot be made; the lines above say why.`);
  };
  const available = (image: string) => has(image) || engine('pull', '--quiet', image);

  const registry = Object.values(official).every(available);
  if (!registry) {
    say('No registry answers: the images are made from packages.');
    if (!obtain('debootstrap', ['debootstrap'], say))
      throw new Error(
        'No image can be pulled, and debootstrap, which makes them from packages, is missing: install it as root ' +
          '(on Debian apt-get install debootstrap), or name images by POSTGRES_IMAGE, REDIS_IMAGE and IMAGE_TAG.',
      );
    const missing = Object.entries(ownStores).flatMap(([name, image]) => (has(image) ? [] : [name]));
    if (missing.length > 0) make(...missing);
  }
  if (given.IMAGE_TAG === undefined) {
    const words = ['deploy/images/build.ts', ...(registry ? [] : ['--offline'])];
    if (!run(process.execPath, ...words))
      throw new Error('The images of the services cannot be built; see above.');
  }
  const stores = registry ? official : ownStores;
  return {
    IMAGE_TAG: env.IMAGE_TAG,
    POSTGRES_IMAGE: given.POSTGRES_IMAGE ?? stores.postgres,
    REDIS_IMAGE: given.REDIS_IMAGE ?? stores.redis,
    TOXIPROXY_IMAGE: given.TOXIPROXY_IMAGE ?? toxiproxyImage(),
  };

  function toxiproxyImage(): string {
    if (has(toxiproxy.own)) return toxiproxy.own;
    if (available(toxiproxy.official)) return toxiproxy.official;
    if (onPath('go')) {
      make('toxiproxy');
      return toxiproxy.own;
    }
    say('No toxiproxy: install Go or name an image by TOXIPROXY_IMAGE. The suite "network" is left out.');
    return '';
  }
}
