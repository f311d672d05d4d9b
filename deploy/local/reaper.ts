// Outlives its supervisor by moments: when the pipe between them closes, even by SIGKILL, it stops in order what the
// file of its first argument still records, removes the directories of the others, and ends. It is a separate file: in the
// bundle of another program, import.meta.main is true of every module.
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { readJson } from './run-directory.ts';
import { type Stoppable, stopInOrder, stopSignals } from './shutdown.ts';

const [file = '', ...throwaway] = process.argv.slice(2);
for (const signal of stopSignals) process.on(signal, () => {});
await once(process.stdin.resume(), 'end');
await stopInOrder(readJson<readonly Stoppable[]>(file, []));
for (const path of [file, ...throwaway]) rmSync(path, { recursive: true, force: true });
