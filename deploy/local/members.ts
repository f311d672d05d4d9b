// What every member of the stack has in common: a program, an address, and a way to ask whether it answers.
import { setTimeout as sleep } from 'node:timers/promises';
import { logTail } from './log-tail.ts';
import type { Exit, Processes, Program, RunningProgram } from './processes.ts';

export interface Member {
  readonly program: Program;
  readonly address: string;
  /** Undefined when it answers, else one sentence that says what is wrong. Never rejects. */
  readonly problem: () => Promise<string | undefined>;
}

export interface RunningMember extends Member {
  readonly running: RunningProgram;
}

/** A failure of the start, told in sentences that a person can act on. */
export class StartFailure extends Error {}

/** Starts `member` and resolves when it answers. Rejects when it ends or stays silent for `timeoutMs`. */
export async function bringUp(
  processes: Processes,
  member: Member,
  timeoutMs = 30_000,
): Promise<RunningMember> {
  const running = processes.start(member.program);
  let exit: Exit | undefined;
  void running.exited.then((how) => {
    exit = how;
  });
  const end = Date.now() + timeoutMs;
  let problem: string | undefined = 'It does not answer.';
  while (exit === undefined && Date.now() < end) {
    problem = await member.problem();
    if (problem === undefined) return { ...member, running };
    await sleep(40);
  }
  const { name, logFile } = member.program;
  const what =
    exit === undefined
      ? `${name} did not become ready. ${problem}`
      : `${name} ended while it was starting${describeExit(exit)}.`;
  throw new StartFailure(`${what}\n  Last lines of ${logFile}:\n${logTail(logFile)}`);
}

/** Runs `program` to its end. Rejects, with the last lines of its log, unless its exit code is 0. */
export async function runToEnd(processes: Processes, program: Program): Promise<void> {
  const exit = await processes.start(program).exited;
  if (exit.code === 0) return;
  throw new StartFailure(
    `${program.name} failed${describeExit(exit)}.\n  Last lines of ${program.logFile}:\n${logTail(program.logFile)}`,
  );
}

export function describeExit({ code, signal }: Exit): string {
  return signal === null ? ` (exit code ${code})` : ` (ended by ${signal})`;
}
