// Builds the images: `node deploy/images/build.ts [--offline] [IMAGE …]`, by `docker build` of deploy/Dockerfile.
// Variables: IMAGE_PREFIX, IMAGE_TAG, BUILD_BASE, RUN_BASE, DOCKER (the client). --offline takes the bases that
// .ci/offline-images/make.sh makes, makes them where they are missing, and builds without a network.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { chosenImages, type ImageName } from './programs.ts';

const root = resolve(import.meta.dirname, '../..');
const docker = process.env.DOCKER ?? 'docker';
const offlinePrefix = process.env.OFFLINE_IMAGE_PREFIX ?? 'course-exchange-offline';
const given = process.argv.slice(2);
const offline = given.includes('--offline');
const names = chosenImages(
  given.filter((word) => word !== '--offline'),
  'build.ts [--offline]',
);

const bases = offline
  ? { BUILD_BASE: `${offlinePrefix}/build:bookworm`, RUN_BASE: `${offlinePrefix}/run:bookworm` }
  : chosen('BUILD_BASE', 'RUN_BASE');
if (offline) makeMissingBases();
const { version } = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8')) as { version: string };
const buildArguments = {
  ...bases,
  ...(offline ? { INSTALL_FLAGS: '--offline --trust-lockfile' } : {}),
  VERSION: version,
  REVISION: git('rev-parse', 'HEAD'),
  SOURCE_DATE_EPOCH: process.env.SOURCE_DATE_EPOCH ?? git('log', '-1', '--format=%ct'),
};
for (const name of names) buildImage(name);

function buildImage(name: ImageName): void {
  const tag = `${process.env.IMAGE_PREFIX ?? 'course-exchange'}/${name}:${process.env.IMAGE_TAG ?? version}`;
  const values = Object.entries(buildArguments).flatMap(([key, value]) => ['--build-arg', `${key}=${value}`]);
  const network = offline ? ['--network', 'none'] : [];
  const what = ['--file', 'deploy/Dockerfile', '--target', name, '--tag', tag];
  run(docker, ['build', '--quiet', ...what, ...network, ...values, '.']);
  console.log(tag);
}

function makeMissingBases(): void {
  const lockfile = createHash('sha256')
    .update(readFileSync(resolve(root, 'pnpm-lock.yaml')))
    .digest('hex');
  const label = '{{index .Config.Labels "course-exchange.lockfile"}}';
  const known = (name: string, format: string) =>
    spawnSync(docker, ['image', 'inspect', '--format', format, `${offlinePrefix}/${name}:bookworm`], {
      encoding: 'utf8',
    });
  const missing = [
    ...(known('run', '').status === 0 ? [] : ['run']),
    ...(known('build', label).stdout.trim() === lockfile ? [] : ['build']),
  ];
  if (missing.length > 0) run('bash', ['.ci/offline-images/make.sh', ...missing]);
}

function chosen(...variables: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    variables.flatMap((name) => (process.env[name] ? [[name, process.env[name] as string]] : [])),
  );
}

function git(...parameters: string[]): string {
  return spawnSync('git', parameters, { cwd: root, encoding: 'utf8' }).stdout.trim() || '0';
}

function run(command: string, parameters: string[]): void {
  const { status, stdout, stderr } = spawnSync(command, parameters, { cwd: root, encoding: 'utf8' });
  if (status === 0) return;
  console.error(`${stdout ?? ''}${stderr ?? ''}`);
  console.error(`${command} ${parameters[0]} failed (${status ?? 'not found'}).`);
  process.exit(1);
}
