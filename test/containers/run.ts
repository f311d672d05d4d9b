// The command `test:containers`: a Docker engine, the images, then the suite; at its end the figures that it printed and
// the count. Variables: DOCKER_HOST, DOCKER, IMAGE_PREFIX, IMAGE_TAG (given: nothing is built), POSTGRES_IMAGE,
// REDIS_IMAGE, TOXIPROXY_IMAGE, COMPOSE (`docker compose`). Words after the command go to vitest: names of test files.
// Exit codes: 0 all passed, 1 something failed, 2 it cannot run here.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Engine, findEngine } from './engine.ts';
import { prepareImages } from './images.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const say = (line: string) => console.log(line);

try {
  const engine = await findEngine(say);
  try {
    const images = prepareImages(engine, say);
    process.exitCode = await runSuite({
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
  process.exitCode = 2;
}

async function runSuite(env: NodeJS.ProcessEnv): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'course-exchange-containers-'));
  const report = join(folder, 'report.json');
  const words = ['run', '--config=test/vitest.config.ts', '--project=containers', ...process.argv.slice(2)];
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  try {
    const suite = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', ...words, ...reporters], {
      cwd: root,
      env,
      stdio: ['inherit', 'pipe', 'inherit'],
    });
    let said = '';
    suite.stdout.setEncoding('utf8').on('data', (text: string) => {
      process.stdout.write(text);
      said += text;
    });
    const [code] = (await once(suite, 'close')) as [number | null];
    say(`\nFigures\n${[...said.matchAll(/figure: (.*)/g)].map(([, figure]) => `  ${figure}`).join('\n')}\n`);
    return conclude(report, code ?? 1);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Prints the count, in which a file that could not begin is one failure. */
function conclude(report: string, code: number): number {
  const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(report, 'utf8')) as {
    readonly numPassedTests: number;
    readonly numFailedTests: number;
  };
  const failed = code === 0 ? numFailedTests : Math.max(1, numFailedTests);
  say(`${numPassedTests} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
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
    const built = told('bash', 'deploy/offline-images/compose.sh').stdout.trim();
    if (built !== '') return built;
  }
  say('No Compose 2: install it, or Go to build it. The suite "compose" is left out.');
  return '';
}
