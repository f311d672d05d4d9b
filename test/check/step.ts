// One step of the check.
import { execFile } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

/** Gives what is missing on this machine where it could not run; rejects with what a reader needs to mend it. */
export type Step = () => Promise<string | undefined>;

export const root = join(import.meta.dirname, '../..');

/** A step that runs a tool of the workspace, else of the PATH, in the root directory; passes when it ends with 0. */
export function command(tool: string, words: string, ...files: readonly string[]): Step {
  const parameters = [...words.split(' '), ...files];
  const tools = ['', 'proto'].map((directory) => join(root, directory, 'node_modules/.bin'));
  const env = { ...process.env, PATH: [...tools, process.env.PATH].join(delimiter), NO_COLOR: '1' };
  return async () => {
    await promisify(execFile)(tool, parameters, { cwd: root, env, maxBuffer: 1 << 26 }).catch(
      ({ stdout = '', stderr = '', message }) => fail([stdout + stderr || message]),
    );
    return undefined;
  };
}

export function fail(problems: readonly string[]): undefined {
  if (problems.length > 0) throw new Error(problems.join('\n'));
}
