// A component of the stack (a store, a service, the demo partner): a program, an address, and a question whether it
// answers. It starts again when it dies, and stays down after the fourth death within a minute. A saved file restarts it.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Exit, Processes, Program, RunningProgram } from './processes.ts';
import { stopInOrder } from './shutdown.ts';

export interface Component {
  readonly program: Program;
  readonly address: string;
  /** Undefined when it answers, else one sentence. Never rejects. */
  readonly problem: () => Promise<string | undefined>;
}

export interface RunningComponent extends Component {
  readonly running: RunningProgram;
}

export class StartFailure extends Error {}

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
  readonly nextSave: (name: string) => Promise<'saved'>;
  readonly onReplaced: (component: RunningComponent) => void;
}

const maxDeaths = 3;
const minuteMs = 60_000;
const restartTimeoutMs = 600_000;
const restartGraceMs = 500;

export async function keepRunning(deps: KeepDeps, first: RunningComponent): Promise<void> {
  const { processes, say, nextSave } = deps;
  const { program } = first;
  const { name } = program;
  const startAgain = () =>
    bringUp(processes, first, restartTimeoutMs).catch((error: Error): Error | RunningComponent => error);
  let current: RunningComponent | undefined = first;
  let deaths: readonly number[] = [];
  let saved = nextSave(name);
  for (;;) {
    const event: Exit | RunningComponent | Error | 'saved' = await Promise.race([
      current ? current.running.exited : startAgain(),
      saved,
    ]);
    if (deps.isStopping()) return;
    if (event !== 'saved' && 'running' in event) {
      current = event;
      deps.onReplaced(event);
      say(`${name} runs again.`);
      continue;
    }
    current = undefined;
    if (event !== 'saved') {
      say(deathOf(program, event).message);
      deaths = [...deaths.filter((at) => Date.now() - at < minuteMs), Date.now()];
      if ((await Promise.race([pauseAfter(deps, name, deaths.length), saved])) !== 'saved') continue;
    }
    say(`${name} restarts: a file was saved.`);
    saved = nextSave(name);
    const own = processes.running().filter((one) => one.name === name);
    await stopInOrder(own, restartGraceMs);
  }
}

async function pauseAfter({ say, restartAfterMs }: KeepDeps, name: string, deaths: number): Promise<void> {
  const others = 'The rest goes on; Ctrl-C ends all of it.';
  if (deaths > maxDeaths) {
    say(`${name} keeps dying and stays down. ${others}`);
    return new Promise(() => {});
  }
  say(`${name} starts again in ${restartAfterMs / 1000} s. ${others}`);
  await sleep(restartAfterMs);
}

function deathOf(program: Program, end: Exit | Error): Error {
  return end instanceof Error ? end : failure(program, `has died${describeExit(end)}.`);
}

function describeExit({ code, signal }: Exit): string {
  return signal === null ? ` (exit code ${code})` : ` (ended by ${signal})`;
}

function failure({ name, logFile }: Program, what: string): StartFailure {
  const lines = readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-24);
  const shown = lines.map((line) => `    ${line}`).join('\n');
  return new StartFailure(`${name} ${what}\n  Last lines of ${logFile}:\n${shown}`);
}
