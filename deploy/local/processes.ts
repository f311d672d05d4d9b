// Starts programs in process groups of their own, so that a terminal's Ctrl-C reaches the supervisor alone, and ends
// them in order. A reaper ends them when the supervisor is killed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { writeWhole } from './run-directory.ts';
import { graceMs, identify, type Stoppable, signalProcess, stopInOrder } from './shutdown.ts';

export interface Program extends Pick<Stoppable, 'name' | 'stopSignal' | 'rank'> {
  readonly command: string;
  readonly arguments: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly directory?: string;
  readonly account?: { readonly uid: number; readonly gid: number } | undefined;
  readonly logFile: string;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface RunningProgram extends Stoppable {
  readonly exited: Promise<Exit>;
}

export type Processes = ReturnType<typeof openProcesses>;

/**
 * What runs is recorded in `file`, for the reaper and the next start. The directories `throwaway` are removed when all
 * has ended, whatever ended it.
 */
export function openProcesses(file: string, throwaway: readonly string[] = []) {
  const running = new Map<number, RunningProgram>();
  const reaper = spawn(process.execPath, [join(import.meta.dirname, 'reaper.ts'), file, ...throwaway], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: {},
  });
  const reaped = once(reaper, 'exit').catch(() => {});
  let stopping = false;
  return {
    /** The program's output is appended to its log file. Throws when all are being stopped. */
    start: (program: Program): RunningProgram => {
      if (stopping) throw new Error('The stack is stopping.');
      const started = startProgram(program);
      running.set(started.pid, started);
      void started.exited.then(() => running.delete(started.pid));
      writeWhole(file, [...running.values()]);
      return started;
    },
    running: (): readonly RunningProgram[] => [...running.values()],
    /** Starts nothing from now on. Each rank has `timeoutMs`, then it is killed. */
    stopAll: async (timeoutMs = graceMs): Promise<void> => {
      stopping = true;
      await stopInOrder([...running.values()], timeoutMs);
      reaper.stdin.end();
      await reaped;
    },
    killAll: (): void => {
      for (const one of running.values()) signalProcess(one, 'SIGKILL');
    },
  };
}

function startProgram(program: Program): RunningProgram {
  const log = openSync(program.logFile, 'a', 0o600);
  const { name, stopSignal, rank } = program;
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
    const pid = child.pid ?? -1;
    // A process that is gone already has no start time; it is never signalled.
    return { startedAt: 'gone', pid, ...identify(pid), name, stopSignal, rank, exited };
  } finally {
    closeSync(log);
  }
}
