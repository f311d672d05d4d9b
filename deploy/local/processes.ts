// Starts programs in separate process groups, so that a terminal's Ctrl-C reaches the supervisor only, and ends them in
// order. A reaper ends them when the supervisor is killed. A component is a program with an address, known to answer; it
// starts again when it dies, and stays down after the fourth death within a minute.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
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
    /** Starts nothing from now on. Each rank has `timeoutMs`, then it is killed. */
    stopAll: async (timeoutMs = graceMs): Promise<void> => {
      stopping = true;
      await stopInOrder([...running.values()], timeoutMs);
      reaper.stdin.end();
      await Promise.race([reaped, sleep(reaperMs, undefined, { ref: false })]);
      reaper.kill('SIGKILL');
    },
    killAll: (): void => {
      for (const one of running.values()) signalProcess(one, 'SIGKILL');
    },
  };
}

/** It has little left to stop, and directories to remove. */
const reaperMs = 10_000;

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

export interface Component {
  readonly program: Program;
  readonly address: string;
  /** Undefined when it answers, else one sentence. Never rejects. */
  readonly problem: () => Promise<string | undefined>;
}

export interface RunningComponent extends Component {
  readonly running: RunningProgram;
}

/** Resolves when `component` answers. Rejects when it ends or stays silent for `timeoutMs`. */
export async function bringUp(
  processes: Processes,
  component: Component,
  timeoutMs = 30_000,
): Promise<RunningComponent> {
  const running = processes.start(component.program);
  let exit: Exit | undefined;
  void running.exited.then((how) => {
    exit = how;
  });
  let problem: string | undefined = 'It does not answer.';
  for (const end = Date.now() + timeoutMs; exit === undefined && Date.now() < end; await sleep(40)) {
    problem = await component.problem();
    if (problem === undefined) return { ...component, running };
  }
  const what = exit
    ? `ended while it was starting${describeExit(exit)}.`
    : `did not become ready. ${problem}`;
  throw failure(component.program, what);
}

/** Rejects, with the last lines of the log, unless the exit code is 0. */
export async function runToEnd(processes: Processes, program: Program): Promise<void> {
  const exit = await processes.start(program).exited;
  if (exit.code !== 0) throw failure(program, `failed${describeExit(exit)}.`);
}

export interface KeepDeps {
  readonly processes: Processes;
  readonly say: (line: string) => void;
  readonly restartAfterMs: number;
  readonly isStopping: () => boolean;
  readonly onReplaced: (component: RunningComponent) => void;
}

const maxDeaths = 3;
const minuteMs = 60_000;
const restartTimeoutMs = 600_000;

export async function keepRunning(deps: KeepDeps, first: RunningComponent): Promise<void> {
  const { processes, say, restartAfterMs, isStopping } = deps;
  const { name } = first.program;
  let deaths: readonly number[] = [];
  let death = await deathOf(first);
  while (!isStopping()) {
    say(death.message);
    deaths = [...deaths.filter((at) => Date.now() - at < minuteMs), Date.now()];
    const restarts = deaths.length <= maxDeaths;
    const next = restarts ? `starts again in ${restartAfterMs / 1000} s` : 'keeps dying and stays down';
    say(`${name} ${next}. The rest goes on; Ctrl-C ends all of it.`);
    if (!restarts) return;
    await sleep(restartAfterMs);
    if (isStopping()) return;
    try {
      const again = await bringUp(processes, first, restartTimeoutMs);
      deps.onReplaced(again);
      say(`${name} runs again.`);
      death = await deathOf(again);
    } catch (error) {
      death = error as Error;
    }
  }
}

async function deathOf({ program, running }: RunningComponent): Promise<Error> {
  return failure(program, `has died${describeExit(await running.exited)}.`);
}

function describeExit({ code, signal }: Exit): string {
  return signal === null ? ` (exit code ${code})` : ` (ended by ${signal})`;
}

function failure({ name, logFile }: Program, what: string): Error {
  const lines = readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-24);
  const shown = lines.map((line) => `    ${line}`).join('\n');
  return new Error(`${name} ${what}\n  Last lines of ${logFile}:\n${shown}`);
}
