// Lint of what no compiler reads: shell scripts and Dockerfiles. The linters are of one version, so that the
// verdict is the same on every machine; where none can be had, the step says so.
import { findProgram } from '../support/programs.ts';
import { command, type StepResult, sourceFiles } from './step.ts';

export const lintShell = () => lint('shellcheck', '--external-sources', /\.sh$|^\.ci\/run$/);
export const lintDockerfiles = () => lint('hadolint', '--no-color', /(^|\/|\.)Dockerfile$/);

async function lint(linter: 'shellcheck' | 'hadolint', option: string, paths: RegExp): Promise<StepResult> {
  const files = (await sourceFiles()).filter((path) => paths.test(path));
  const found = await findProgram(linter).catch((error: Error) => error);
  if (typeof found === 'string') return command(found, option, ...files)();
  return { passed: true, output: '', notRun: found.message };
}
