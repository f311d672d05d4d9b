// vitest's globalSetup of the suite on containers: a Docker engine and the images. Variables: DOCKER_HOST, DOCKER,
// IMAGE_PREFIX, IMAGE_TAG (given: nothing is built), POSTGRES_IMAGE, REDIS_IMAGE, COLLECTOR_IMAGE, COMPOSE (`docker compose`).
import { spawnSync } from 'node:child_process';
import { root } from '../check/step.ts';
import { type Engine, findEngine, prepareImages } from '../containers/engine.ts';

export async function setup(): Promise<Engine['stop']> {
  const engine = await findEngine();
  try {
    const { images, collectorImage } = prepareImages(engine);
    process.env.COMPOSE ??= composeClient(engine);
    process.env.COLLECTOR_IMAGE = collectorImage();
    process.env.TESTCONTAINERS_RYUK_DISABLED ??= 'true';
    Object.assign(process.env, { DOCKER_HOST: engine.host, DOCKER: engine.client }, images);
  } catch (error) {
    await engine.stop();
    throw error;
  }
  return engine.stop;
}

/** A Compose client beside the engine's, else one that Go builds. */
function composeClient({ host, client }: Engine): string {
  const env = { ...process.env, DOCKER_HOST: host };
  if (spawnSync(client, ['compose', 'version'], { env }).status === 0) return `${client} compose`;
  console.log('There is no Compose 2: it is built from its Go module.');
  const built = spawnSync('bash', ['.ci/offline-images/make.sh', 'compose'], { cwd: root, encoding: 'utf8' });
  if (built.status === 0) return built.stdout.trim();
  throw new Error('No Compose 2: install it, or Go to build it, or name one by COMPOSE.');
}
