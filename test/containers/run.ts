// The command `test:containers`: a Docker engine, the images, then the suite; at its end the figures that it printed and
// the count. Variables: DOCKER_HOST, DOCKER, IMAGE_PREFIX, IMAGE_TAG (given: nothing is built), POSTGRES_IMAGE,
// REDIS_IMAGE, TOXIPROXY_IMAGE, COMPOSE (`docker compose`). Words after the command go to vitest: names of test files.
// Exit codes: 0 all passed, 1 something failed, 2 it cannot run here.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { runMeasuredSuite } from '../run/measured-suite.ts';
import { type Engine, findEngine } from './engine.ts';
import { BuildFailure, prepareImages } from './images.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const say = (line: string) => console.log(line);

try {
  const engine = await findEngine(say);
  try {
    const images = prepareImages(engine, say);
    process.exitCode = await runMeasuredSuite('containers', {
      COMPOSE: composeClient(engine),
      TESTCONTAINERS_RYUK_DISABLED: 'true',
      ...process.env,
      DOCKER_HOST: engine.host,
      DOCKER: engine.client,
      ...images,
    });
  } finally {
    await engine.stop();
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  if (error instanceof BuildFailure) console.log('0 passed, 1 failed');
  process.exitCode = error instanceof BuildFailure ? 1 : 2;
}

/** A Compose client beside the engine's: one on PATH that is version 2, else one that Go builds; empty without. */
function composeClient({ host, client }: Engine): string {
  const told = (program: string, ...words: string[]) =>
    spawnSync(program, words, {
      cwd: root,
      encoding: 'utf8',
      env: { ...process.env, DOCKER_HOST: host },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  if (told(client, 'compose', 'version').status === 0) return `${client} compose`;
  if (/^v?[2-9]/.test(told('docker-compose', 'version', '--short').stdout?.trim() ?? ''))
    return 'docker-compose';
  if (told('go', 'version').status === 0) {
    say('There is no Compose 2: it is built from its Go module.');
    const built = told('bash', '.ci/offline-images/compose.sh').stdout.trim();
    if (built !== '') return built;
  }
  say('No Compose 2: install it, or Go to build it. The suite "compose" is left out.');
  return '';
}
