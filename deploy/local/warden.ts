// A small process that outlives its supervisor by moments: when the pipe between them closes, even by
// SIGKILL, it stops whatever processes are left, in order, removes what was to be thrown away, and ends.
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { type Stoppable, stopInOrder } from './orderly-stop.ts';

interface Message {
  readonly start?: Stoppable;
  readonly end?: number;
  /** A directory. */
  readonly throwAway?: string;
}

/** Time for each rank in milliseconds. */
const graceMs = 3_000;
const charges = new Map<number, Stoppable>();
const throwaway: string[] = [];

// The supervisor alone ends this process, by closing the pipe.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line) as Message;
  if (message.start) charges.set(message.start.pid, message.start);
  if (message.end !== undefined) charges.delete(message.end);
  if (message.throwAway !== undefined) throwaway.push(message.throwAway);
}
await stopInOrder([...charges.values()], graceMs);
for (const directory of throwaway) rmSync(directory, { recursive: true, force: true });
