// Folders of the cache that are fetched: whole or not there, whatever ends this process, and no program goes on without it.
import { execFile } from 'node:child_process';
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { promisify } from 'node:util';
import { stopSignals } from './shutdown.ts';

/** `fill` gets an empty folder, which becomes `home`. Rejects as `fill` does. Call it alone (exclusive.ts). */
export async function fetchFolder(home: string, fill: (folder: string) => Promise<void>): Promise<void> {
  const unfinished = `${home}.unfinished`;
  const remove = () => rmSync(unfinished, { recursive: true, force: true });
  const stopHearing = endAtSignals(remove);
  remove();
  try {
    mkdirSync(unfinished, { recursive: true });
    await fill(unfinished);
    rmSync(home, { recursive: true, force: true });
    renameSync(unfinished, home);
  } finally {
    remove();
    stopHearing();
  }
}

/** A program's output. It ends with this process. */
export async function outputOf(
  command: string,
  words: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
  const running = promisify(execFile)(command, words, { ...options, timeout: 300_000, maxBuffer: 1 << 26 });
  const stopHearing = endAtSignals(() => void running.child.kill('SIGKILL'));
  try {
    return (await running).stdout;
  } finally {
    stopHearing();
  }
}

/** Calls `tidy` when this process ends, also by a signal that nobody else hears. Gives what takes that back. */
function endAtSignals(tidy: () => void): () => void {
  const hear = (signal: NodeJS.Signals): void => {
    if (process.listeners(signal).every((listener) => heard.has(listener))) process.exit(130);
  };
  heard.add(hear);
  process.prependListener('exit', tidy);
  for (const signal of stopSignals) process.on(signal, hear);
  return () => {
    heard.delete(hear);
    process.off('exit', tidy);
    for (const signal of stopSignals) process.off(signal, hear);
  };
}
const heard = new Set<unknown>();
