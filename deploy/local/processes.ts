// Starts programs in process groups of their own, so that a terminal's Ctrl-C reaches the supervisor alone,
// and ends them in order. A warden ends them when the supervisor dies without a word.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Stoppable, stopInOrder } from './orderly-stop.ts';
import { identify, signalProcess } from './process-identity.ts';

export interface Program {
  readonly name: string;
  readonly command: string;
  readonly arguments: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly directory?: string;
  /** Account to run as; the supervisor's own when left out. */
  readonly account?: { readonly uid: number; readonly gid: number };
  readonly logFile: string;
  readonly stopSignal: NodeJS.Signals;
  /** Lower ranks stop first. */
  readonly rank: number;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface RunningProgram extends Stoppable {
  /** How it ended. Never rejects. */
  readonly exited: Promise<Exit>;
}

export interface Processes {
  /** Starts `program`; its output is appended to its log file. Throws when all are being stopped. */
  readonly start: (program: Program) => RunningProgram;
  readonly running: () => readonly RunningProgram[];
  /** Starts nothing from now on, stops all in order and resolves when nothing is left. Each rank has `graceMs`, then it is killed. */
  readonly stopAll: (graceMs: number) => Promise<void>;
  /** Has `directory` removed when all has ended, whatever ended it. */
  readonly throwAway: (directory: string) => void;
  /** Kills at once what is still running. */
  readonly killAll: () => void;
}

/** `onStart` is called with all that run after each start. */
export function openProcesses(onStart: (running: readonly RunningProgram[]) => void = () => {}): Processes {
  const running = new Map<number, RunningProgram>();
  const warden = startWarden();
  let stopping = false;
  return {
    start: (program) => {
      if (stopping) throw new Error('The stack is stopping.');
      const started = startProgram(program);
      running.set(started.pid, started);
      const { name, pid, startedAt, stopSignal, rank } = started;
      warden.tell({ start: { name, pid, startedAt, stopSignal, rank } });
      void started.exited.then(() => {
        running.delete(pid);
        warden.tell({ end: pid });
      });
      onStart([...running.values()]);
      return started;
    },
    running: () => [...running.values()],
    stopAll: async (graceMs) => {
      stopping = true;
      await stopInOrder([...running.values()], graceMs);
      await warden.end();
    },
    throwAway: (directory) => warden.tell({ throwAway: directory }),
    killAll: () => {
      for (const one of running.values()) signalProcess(one, 'SIGKILL');
    },
  };
}

function startProgram(program: Program): RunningProgram {
  const log = openSync(program.logFile, 'a', 0o600);
  try {
    const child = spawn(program.command, program.arguments, {
      cwd: program.directory,
      env: program.environment ?? {},
      detached: true,
      // The pipe's other end is never written: it closes with the supervisor.
      stdio: ['pipe', log, log],
      ...program.account,
    });
    const exited = new Promise<Exit>((resolve) => {
      child.once('exit', (code, signal) => resolve({ code, signal }));
      child.once('error', () => resolve({ code: 127, signal: null }));
    });
    child.stdin?.on('error', () => {});
    // A process that is gone already has no start time left to read; nothing is ever sent to it.
    const identity = identify(child.pid ?? -1) ?? { pid: child.pid ?? -1, startedAt: 'gone' };
    const { name, stopSignal, rank } = program;
    return { ...identity, name, stopSignal, rank, exited };
  } finally {
    closeSync(log);
  }
}

function startWarden(): { tell: (message: object) => void; end: () => Promise<void> } {
  const warden: ChildProcess = spawn(
    process.execPath,
    [fileURLToPath(new URL('warden.ts', import.meta.url))],
    {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      env: {},
    },
  );
  const gone = new Promise<void>((resolve) => {
    warden.once('exit', () => resolve());
    warden.once('error', () => resolve());
  });
  warden.stdin?.on('error', () => {});
  return {
    tell: (message) => warden.stdin?.write(`${JSON.stringify(message)}\n`),
    end: async () => {
      warden.stdin?.end();
      await gone;
    },
  };
}
