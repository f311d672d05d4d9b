// Supervises one stack from its first process to its last: brings it up, watches it, answers `stop` and
// `status`, and ends it in order, stores last.
import { setTimeout as sleep } from 'node:timers/promises';
import type { StartOptions } from './arguments.ts';
import { assemble } from './assembly.ts';
import { askStatus, type Phase, type StatusReport, takeControl } from './control.ts';
import { logTail } from './log-tail.ts';
import { bringUp, describeExit, type RunningMember, StartFailure } from './members.ts';
import { endOrphans, writeDown } from './orphans.ts';
import { makePlan } from './plan.ts';
import { openProcesses, type Processes } from './processes.ts';
import { commandFor, type RunDirectory, removeFile, rotateLogs, writeWhole } from './run-directory.ts';
import { type SeedContent, SeedError } from './seed-content.ts';
import { readNewSeed } from './seed-memory.ts';
import type { StackPlan } from './service-members.ts';
import { describeStack } from './stack-file.ts';
import { type Attachment, listenForStop } from './stop-requests.ts';
import { stackTable } from './table.ts';

/** Time for each rank to stop, in milliseconds: demo partner and services, then the stores, within 10 s. */
const graceMs = 3_000;

interface Watch {
  readonly run: RunDirectory;
  readonly options: StartOptions;
  processes?: Processes;
  readonly say: (line: string) => void;
  /** In the background it is not said what runs: what is said lands in a log, and the table holds passwords. */
  readonly showsTable: boolean;
  /** Ends the stack with exit code 1 after saying why. */
  readonly fail: (sentence: string) => void;
  readonly members: Map<string, RunningMember>;
  phase: Phase;
  issuer: string;
}

/** Resolves with the exit code when all of the stack is gone. */
export async function supervise(
  run: RunDirectory,
  options: StartOptions,
  say: (line: string) => void,
  attachment: Attachment,
): Promise<number> {
  const failed = Promise.withResolvers<string>();
  const watch: Watch = {
    run,
    options,
    say,
    showsTable: !attachment.background,
    fail: failed.resolve,
    members: new Map(),
    phase: 'starting',
    issuer: options.issuer ?? `http://127.0.0.1:${options.port}`,
  };
  const stop = listenForStop(() => watch.processes?.killAll(), attachment);
  const handlers = { stop: () => stop.request('asked by stop'), status: () => report(watch) };
  if (!(await takeControl(run, handlers))) {
    say(await describeOther(run));
    return 1;
  }
  const starting = startUp(watch).catch((error: unknown) => failed.resolve(sentenceOf(error)));
  const end = await Promise.race([
    stop.requested.then((reason) => ({ code: 0, sentence: `Stopping (${reason}) …` })),
    failed.promise.then((sentence) => ({ code: 1, sentence })),
  ]);
  say(end.sentence);
  await shutDown(watch, starting);
  say(end.code === 0 ? 'Stopped.' : 'Nothing is left running.');
  return end.code;
}

async function describeOther(run: RunDirectory): Promise<string> {
  const other = await askStatus(run);
  if (!other) return 'Another start or stop of this stack is under way.';
  return `The stack is already ${other.phase === 'ready' ? 'running' : other.phase} at ${other.issuer} (pid ${other.pid}). End it with: ${commandFor(run, 'stop')}`;
}

async function startUp(watch: Watch): Promise<void> {
  const { run, options, say } = watch;
  // A bad file is told of before anything is touched.
  const seed = readNewSeed(run, options);
  await endOrphans(run);
  const plan = await makePlan(run, options);
  watch.issuer = plan.issuer;
  rotateLogs(run);
  if (watch.phase === 'stopping') return;
  const processes = openProcesses((running) => writeDown(run, running));
  watch.processes = processes;
  const onMember = (member: RunningMember) =>
    watchMember(watch, member, () => content && publish(watch, plan, content));
  let content: SeedContent | undefined;
  content = await assemble({ plan, processes, seed, say, onMember });
  publish(watch, plan, content);
  watch.phase = 'ready';
  if (!watch.showsTable) return say('The stack runs.');
  say(stackTable(describeStack(plan, content, [...watch.members.values()])));
  say('\nCtrl-C ends all of it.');
}

function publish({ run, members }: Watch, plan: StackPlan, content: SeedContent): void {
  writeWhole(run.stackFile, describeStack(plan, content, [...members.values()]));
}

/** Reports the member's death by name, with its last log lines, and has it started again; the rest goes on. */
function watchMember(
  watch: Watch,
  member: RunningMember,
  onReplaced: () => void,
  deaths: readonly number[] = [],
): void {
  const { name, logFile } = member.program;
  watch.members.set(name, member);
  void member.running.exited.then((exit) => {
    if (watch.phase === 'stopping') return;
    watch.say(`${name} has died${describeExit(exit)}. Last lines of ${logFile}:\n${logTail(logFile)}`);
    const now = Date.now();
    void revive(watch, member, onReplaced, [...deaths.filter((death) => now - death < 60_000), now]);
  });
}

/** What dies four times within a minute stays down. */
const revivals = 3;

async function revive(
  watch: Watch,
  member: RunningMember,
  onReplaced: () => void,
  deaths: readonly number[],
): Promise<void> {
  const { name } = member.program;
  if (deaths.length > revivals) {
    watch.say(`${name} keeps dying and stays down. The rest goes on; Ctrl-C ends all of it.`);
    return;
  }
  const delay = watch.options.restartAfterMs;
  watch.say(`${name} starts again in ${delay / 1000} s. The rest goes on; Ctrl-C ends all of it.`);
  await sleep(delay);
  const { processes } = watch;
  if (watch.phase === 'stopping' || !processes) return;
  try {
    // Its stores may be away just now: it has ten minutes.
    watchMember(watch, await bringUp(processes, member, 600_000), onReplaced, deaths);
    watch.say(`${name} runs again.`);
    onReplaced();
  } catch (error) {
    watch.say(sentenceOf(error));
    await revive(watch, member, onReplaced, [...deaths, Date.now()]);
  }
}

async function shutDown(watch: Watch, starting: Promise<void>): Promise<void> {
  watch.phase = 'stopping';
  // Whoever reads stack.json may count on an answer: it goes first.
  removeFile(watch.run.stackFile);
  await watch.processes?.stopAll(graceMs);
  // What was just being started has failed by now; a fetch from the network is not waited for.
  await Promise.race([starting, sleep(1_000)]);
  removeFile(watch.run.processesFile);
}

async function report({ phase, issuer, members }: Watch): Promise<StatusReport> {
  const processes = await Promise.all(
    [...members.values()].map(async ({ address, running, problem }) => ({
      name: running.name,
      pid: running.pid,
      address,
      state: (await problem()) ?? 'answers',
    })),
  );
  return { pid: process.pid, phase, issuer, processes };
}

function sentenceOf(error: unknown): string {
  if (error instanceof StartFailure || error instanceof SeedError) return error.message;
  return error instanceof Error ? `The start failed: ${error.message}` : 'The start failed.';
}
