// A component of the stack (a store, a service, the demo partner): a program, an address, and a question whether it
// answers. It starts again when it dies, and stays down after the fourth death within a minute.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Exit, Processes, Program, RunningProgram } from './processes.ts';

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
