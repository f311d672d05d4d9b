// docs/install.md as a program: its shell blocks by section, run by bash with the variables that the page names.
import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { read } from '../docs/documents.ts';
import { helmProgram, kubectlProgram } from './settings.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The blocks of one section, in order. Throws where there is none. */
export function blocksOf(title: string): readonly string[] {
  const section = read('docs/install.md')
    .split(/^## /m)
    .find((part) => part.startsWith(`${title}\n`));
  const blocks = [...(section ?? '').matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block]) => block ?? '');
  if (blocks.length === 0) throw new Error(`docs/install.md has no block in a section "${title}".`);
  return blocks;
}

/** Runs the blocks as one script and prints what they say; rejects with their last words where one fails. */
export function runBlocks(
  blocks: readonly string[],
  variables: Readonly<Record<string, string>>,
): Promise<string> {
  const folders = [kubectlProgram, helmProgram].filter((program) => program.includes('/')).map(dirname);
  const path = [...folders, process.env.PATH].join(':');
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-euo', 'pipefail', '-c', blocks.join('\n')], {
      cwd: root,
      env: { ...process.env, ...variables, PATH: path },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text;
        process.stdout.write(text);
      });
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0
        ? resolve(said)
        : reject(new Error(`The blocks ended with ${code}: ${said.trim().slice(-600)}`)),
    );
  });
}
