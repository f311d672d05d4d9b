// A component of the stack (a store, a service, the demo partner): a program, an address, and a way to ask whether
// it answers. It is starting, answers, died and starts again after a pause, or stays down after the fourth death
// within a minute. A saved file restarts it at once, also when it is down.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Exit, Processes, Program, RunningProgram } from './processes.ts';
import { stopInOrder } from './shutdown.ts';

export interface Component {
  readonly program: Program;
  readonly address: string;
  /** Undefined when it answers, else one sentence that says what is wrong. Never rejects. */
  readonly problem: () => Promise<string | undefined>;
}

export interface RunningComponent extends Component {
  readonly running: RunningProgram;
}

/** A failure of the start, told in sentences that a person can act on. */
export class StartFailure extends Error {}

/** Starts `component` and resolves when it answers. Rejects when it ends or stays silent for `timeoutMs`. */
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
  throw exit === undefined
    ? failure(component.program, `did not become ready. ${problem}`)
    : failure(component.program, `ended while it was starting${describeExit(exit)}.`);
}

/** Runs `program` to its end. Rejects, with the last lines of its log, unless its exit code is 0. */
export async function runToEnd(processes: Processes, program: Program): Promise<void> {
  const exit = await processes.start(program).exited;
  if (exit.code !== 0) throw failure(program, `failed${describeExit(exit)}.`);
}

export interface KeepDeps {
  readonly processes: Processes;
  readonly say: (line: string) => void;
  /** After a death, in milliseconds. */
  readonly restartAfterMs: number;
  readonly isStopping: () => boolean;
  /** Resolves when a file of the component is saved. */
  readonly nextSave: (name: string) => Promise<'saved'>;
  /** Called with each process that takes the place of the one before. */
  readonly onReplaced: (component: RunningComponent) => void;
}

/** More within a minute and the component stays down. */
const maxDeaths = 3;
const minuteMs = 60_000;
/** Its stores may be away when a component starts again: it has ten minutes. */
const restartTimeoutMs = 600_000;
/** A restart shall take no longer than a second, whatever requests are under way. */
const restartGraceMs = 500;

/** Starts `first` again when it dies and when one of its files is saved. Returns when the stack stops. */
export async function keepRunning(deps: KeepDeps, first: RunningComponent): Promise<void> {
  const { processes, say, nextSave } = deps;
  const { program } = first;
  const startAgain = () =>
    bringUp(processes, first, restartTimeoutMs).catch((error: Error): Error | RunningComponent => error);
  let current: RunningComponent | undefined = first;
  let deaths: readonly number[] = [];
  let saved = nextSave(program.name);
  for (;;) {
    const event: Exit | RunningComponent | Error | 'saved' = await Promise.race([
      current ? current.running.exited : startAgain(),
      saved,
    ]);
    if (deps.isStopping()) return;
    if (event !== 'saved' && 'running' in event) {
      current = event;
      deps.onReplaced(event);
      say(`${program.name} runs again.`);
      continue;
    }
    current = undefined;
    if (event !== 'saved') {
      say(deathReport(program, event));
      deaths = [...deaths.filter((death) => Date.now() - death < minuteMs), Date.now()];
      if ((await Promise.race([pauseAfter(deps, program.name, deaths.length), saved])) !== 'saved') continue;
    }
    say(`${program.name} restarts: a file was saved.`);
    saved = nextSave(program.name);
    await stopInOrder(
      processes.running().filter(({ name }) => name === program.name),
      restartGraceMs,
    );
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

/** `end`: how a process ended, or why the next one did not come up. */
function deathReport(program: Program, end: Exit | Error): string {
  return (end instanceof Error ? end : failure(program, `has died${describeExit(end)}.`)).message;
}

function describeExit({ code, signal }: Exit): string {
  return signal === null ? ` (exit code ${code})` : ` (ended by ${signal})`;
}

/** `what` happened to `program`, and the last lines of its log. */
function failure({ name, logFile }: Program, what: string): StartFailure {
  const lines = readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-24);
  const shown = lines.map((line) => `    ${line}`).join('\n');
  return new StartFailure(`${name} ${what}\n  Last lines of ${logFile}:\n${shown}`);
}
