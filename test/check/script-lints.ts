// Lint of what no compiler reads: shell scripts and Dockerfiles. The linters are of one version, so that the
// verdict is the same on every machine; where none can be had, the step says so.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findProgram } from '../support/programs.ts';
import { command, root, type StepResult, sourceFiles } from './step.ts';

/** Every file of the repository that a shell runs: by its name, or by its first line. */
export async function lintShell(): Promise<StepResult> {
  const candidates = (await sourceFiles()).filter((path) => /(\.sh|(^|\/)[^.]+)$/.test(path));
  const scripts = await Promise.all(candidates.map(async (path) => ((await isScript(path)) ? [path] : [])));
  return lint('shellcheck', ['--external-sources'], scripts.flat());
}

async function isScript(path: string): Promise<boolean> {
  if (path.endsWith('.sh')) return true;
  const text = await readFile(join(root, path), 'utf8').catch(() => '');
  return /^#!.*\b(ba|da|)sh\b/.test(text);
}

export async function lintDockerfiles(): Promise<StepResult> {
  const files = (await sourceFiles()).filter((path) => /(^|\/|\.)Dockerfile$/.test(path));
  return lint('hadolint', ['--no-color'], files);
}

async function lint(
  linter: 'shellcheck' | 'hadolint',
  options: readonly string[],
  files: readonly string[],
): Promise<StepResult> {
  if (files.length === 0) return { passed: false, output: 'no file was found to lint' };
  const found = await findProgram(linter).catch((error: Error) => error);
  if (typeof found === 'string') return command(found, ...options, ...files)();
  return { passed: true, output: '', notRun: found.message };
}
