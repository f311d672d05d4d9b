// Lint of what no compiler reads: shell scripts and Dockerfiles. The linters are of one version, so that the
// verdict is the same on every machine; where none can be had, the step says so.
import { filesOfProject } from '../docs/documents.ts';
import { findProgram } from '../support/programs.ts';
import { command, type Step } from './step.ts';

export const lintShell = lint('shellcheck', '--external-sources', /\.sh$|^\.ci\/run$/);
export const lintDockerfiles = lint('hadolint', '--no-color', /(^|\/|\.)Dockerfile$/);

function lint(linter: 'shellcheck' | 'hadolint', option: string, paths: RegExp): Step {
  return async () => {
    const found = await findProgram(linter).catch((error: Error) => error);
    if (typeof found !== 'string') return found.message;
    const files = filesOfProject().filter((path) => paths.test(path));
    return command(found, option, ...files)();
  };
}
