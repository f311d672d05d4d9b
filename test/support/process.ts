// A program that is run to its end, as a separate process.
import { execFile } from 'node:child_process';
import { root } from '../check/step.ts';

export interface Outcome {
  readonly exit: number | null;
  readonly out: string;
  readonly err: string;
}

/** `input`: what it reads from standard input; without it there is none. */
export function startProcess(
  program: string,
  words: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
  input?: string,
  cwd = root,
) {
  const options = { env, cwd, maxBuffer: Number.POSITIVE_INFINITY };
  const { promise: ended, resolve } = Promise.withResolvers<Outcome>();
  const child = execFile(program, words, options, (_error, out, err) =>
    resolve({ exit: child.exitCode, out, err }),
  );
  // It is closed by a process that does not read it to its end.
  child.stdin?.on('error', () => {});
  child.stdin?.end(input);
  return { child, ended };
}
