// Files that an operator names on the command line; `-` is standard input.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import type { Call } from '../frame/call.ts';
import { usageProblem } from '../frame/problem.ts';

/** The text of a file of at most a few megabytes. */
export async function readNamed(name: string, call: Call): Promise<string> {
  if (name === '-') return readAll(call.input);
  try {
    return readFileSync(resolve(call.directory, name), 'utf8');
  } catch {
    throw usageProblem(
      `${name} cannot be read.`,
      'Check the name; relative names start at the current directory.',
    );
  }
}
