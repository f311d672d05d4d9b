// The command `test:containers`: a Docker engine, the images, then the suite. Variables: DOCKER_HOST, DOCKER,
// IMAGE_PREFIX, IMAGE_TAG (given: nothing is built), POSTGRES_IMAGE, REDIS_IMAGE, COMPOSE (`docker compose`).
// Words after the command go to vitest: names of test files.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type Engine, findEngine } from './engine.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const offlinePrefix = process.env.OFFLINE_IMAGE_PREFIX ?? 'course-exchange-offline';
const official = { postgres: 'postgres:18', redis: 'redis:8' };
const ownStores = { postgres: `${offlinePrefix}/postgres:18`, redis: `${offlinePrefix}/redis:7` };

try {
  const engine = await findEngine((line) => console.log(line));
  try {
    process.exitCode = runSuite(engine);
  } finally {
    await engine.stop();
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}

function runSuite({ host, client }: Engine): number {
  const base = { ...process.env, DOCKER_HOST: host, DOCKER: client };
  const call = (program: string, words: readonly string[], environment: NodeJS.ProcessEnv = base) =>
    spawnSync(program, words, { cwd: root, env: environment, stdio: 'inherit' }).status ?? 1;
  const quiet = (...words: string[]) =>
    spawnSync(client, words, { env: base, stdio: 'ignore', timeout: 120_000 }).status === 0;
  const has = (image: string) => quiet('image', 'inspect', image);

  const pulled = Object.values(official).every((image) => has(image) || quiet('pull', '--quiet', image));
  const stores = pulled ? official : ownStores;
  if (!pulled) {
    const missing = Object.entries(ownStores).flatMap(([name, image]) => (has(image) ? [] : [name]));
    console.log('No registry answers: the images are made from packages.');
    if (missing.length > 0 && call('bash', ['deploy/offline-images/make.sh', ...missing]) !== 0) return 1;
  }
  const images = { IMAGE_TAG: process.env.IMAGE_TAG ?? 'test' };
  const building = process.env.IMAGE_TAG === undefined;
  const words = ['deploy/images/build.ts', ...(pulled ? [] : ['--offline'])];
  if (building && call(process.execPath, words, { ...base, ...images }) !== 0) return 1;
  return call(
    process.execPath,
    [
      'node_modules/vitest/vitest.mjs',
      'run',
      '--config=test/vitest.config.ts',
      '--project=containers',
      ...process.argv.slice(2),
    ],
    {
      POSTGRES_IMAGE: stores.postgres,
      REDIS_IMAGE: stores.redis,
      COMPOSE: quiet('compose', 'version') ? `${client} compose` : composeProgram(),
      TESTCONTAINERS_RYUK_DISABLED: 'true',
      ...base,
      ...images,
    },
  );
}

/** A Compose client beside the engine's: one on PATH that is version 2, else one that Go builds; empty without. */
function composeProgram(): string {
  const told = (program: string, ...words: string[]) =>
    spawnSync(program, words, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  if (/^v?[2-9]/.test(told('docker-compose', 'version', '--short').stdout?.trim() ?? ''))
    return 'docker-compose';
  if (told('go', 'version').status !== 0) return '';
  console.log('There is no Compose 2: it is built from its Go module.');
  return told('bash', 'deploy/offline-images/compose.sh').stdout.trim();
}
