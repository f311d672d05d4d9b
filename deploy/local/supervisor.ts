// Supervises one stack: brings it up in order (stores, roles, migrations, data, services, demo partner), keeps it
// running, answers `stop` and `status`, and ends it in order, stores last.
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { breachText } from '@course-exchange/testcontainers/rehearsal/duties';
import { startRehearsalProxy } from '@course-exchange/testcontainers/rehearsal/proxy';
import { verdictText } from '@course-exchange/testcontainers/rehearsal/rehearse';
import { scenarios } from '@course-exchange/testcontainers/rehearsal/scenarios';
import type { StartOptions } from './arguments.ts';
import { askStatus, type StatusReport, takeControl } from './control.ts';
import { followFile } from './observe/telemetry.ts';
import { makePlan, type StackPlan } from './plan.ts';
import {
  bringUp,
  type Component,
  keepRunning,
  openProcesses,
  type Processes,
  type Program,
  type RunningComponent,
} from './processes.ts';
import { commandFor, type RunDirectory, rotateLogs, writeWhole } from './run-directory.ts';
import { loadData, migrateBoth, prepareDatabase } from './seed.ts';
import { readSeedFile, type SeedContent } from './seed-file.ts';
import { serviceComponents, storeComponents } from './services.ts';
import { passedToServices } from './shell.ts';
import { endRecorded, isInBackground, listenForStop } from './shutdown.ts';
import { describeStack, stackTable } from './stack-file.ts';

interface Stack {
  readonly run: RunDirectory;
  readonly options: StartOptions;
  readonly say: (line: string) => void;
  readonly components: Map<string, RunningComponent>;
  processes?: Processes;
  publish: () => void;
  endRehearsal: () => Promise<void>;
  phase: StatusReport['phase'];
  issuer: string;
}

export async function supervise(
  run: RunDirectory,
  options: StartOptions,
  say: (line: string) => void,
): Promise<number> {
  const stack: Stack = {
    run,
    options,
    say,
    components: new Map(),
    publish: () => {},
    endRehearsal: async () => {},
    phase: 'starting',
    issuer: options.issuer ?? `http://127.0.0.1:${options.port}`,
  };
  const end = Promise.withResolvers<{ code: number; sentence: string }>();
  const stop = (reason: string) => end.resolve({ code: 0, sentence: `Stopping (${reason}) …` });
  listenForStop(stop, () => stack.processes?.killAll());
  if (!(await takeControl(run, { stop: () => stop('asked by stop'), status: () => report(stack) }))) {
    say(await describeOther(run));
    return 1;
  }
  const starting = startUp(stack).catch(({ message, detail = '' }: Error & { detail?: string }) =>
    end.resolve({ code: 1, sentence: `The start failed: ${message} ${detail}`.trim() }),
  );
  const { code, sentence } = await end.promise;
  say(sentence);
  await shutDown(stack, starting);
  say(code === 0 ? 'Stopped.' : 'Nothing is left running.');
  return code;
}

async function describeOther(run: RunDirectory): Promise<string> {
  const other = await askStatus(run);
  if (!other) return 'Another start or stop of this stack is under way.';
  return `The stack is already ${other.phase === 'ready' ? 'running' : other.phase} at ${other.issuer} (pid ${other.pid}). End it with: ${commandFor(run, 'stop')}`;
}

async function startUp(stack: Stack): Promise<void> {
  const { run, options, say } = stack;
  const seed = options.seed === undefined ? undefined : readSeedFile(options.seed);
  await endRecorded(run);
  const plan = await makePlan(run, options);
  stack.issuer = plan.issuer;
  rotateLogs(run);
  for (const sentence of passedToServices(plan.observeUrl !== undefined).refused) say(sentence);
  if (plan.observeUrl !== undefined) {
    // The observer opens before the services, which export their first spans to it.
    const { openObserver } = await import('./observe/observer.ts');
    await openObserver(plan);
  }
  stack.endRehearsal = await startRehearsal(plan, say);
  if (stack.phase === 'stopping') return;
  const content = await assemble(stack, plan, seed);
  const description = () => describeStack(plan, content, [...stack.components.values()]);
  stack.publish = () => writeWhole(run.stackFile, description());
  stack.publish();
  stack.phase = 'ready';
  // The output is a log in the background, and the table holds passwords.
  say(isInBackground ? 'The stack runs.' : `${stackTable(description())}\n\nCtrl-C ends all of it.`);
}

/** A proxy at the issuer's port plays one failure until the stack stops. Resolves with what ends it and says the verdict. */
async function startRehearsal(
  { ports, issuer, rehearsal }: StackPlan,
  say: Stack['say'],
): Promise<() => Promise<void>> {
  if (!rehearsal) return async () => {};
  const { scenario, port } = rehearsal;
  const proxy = await startRehearsalProxy(() => `http://127.0.0.1:${ports.gateway}`, port, issuer);
  const { play, expectation } = scenarios[scenario];
  say(`Rehearsing ${scenario}. ${play} ${expectation}`);
  const end = proxy.rehearse(scenario, {
    onPlayed: () => say(`Rehearsal: ${scenario} was played.`),
    onBreach: (breach) => say(`Rehearsal: ${breachText(breach)}`),
  });
  return async () => {
    say(`Rehearsal: ${verdictText(scenario, await end())}`);
    await proxy.stop();
  };
}

async function assemble(stack: Stack, plan: StackPlan, seed: SeedContent | undefined): Promise<SeedContent> {
  const { run, say, components, options } = stack;
  const processes = openProcesses(run.processesFile);
  stack.processes = processes;
  const keep = (component: RunningComponent) => components.set(component.program.name, component);
  const deps = {
    processes,
    say,
    restartAfterMs: options.restartAfter,
    isStopping: () => stack.phase === 'stopping',
    onReplaced: (component: RunningComponent) => {
      keep(component);
      stack.publish();
    },
  };
  const up = async (component: Component) => {
    const running = await bringUp(processes, component);
    keep(running);
    void keepRunning(deps, running);
    if (options.watch) tellWaiting(component.program, say);
  };
  say('Starting Postgres and Redis …');
  await Promise.all((await storeComponents(plan)).map(up));
  say('Preparing the database …');
  await prepareDatabase(plan);
  await migrateBoth(processes, plan);
  const content = await loadData(plan, seed);
  say('Starting the services …');
  const { 'demo-partner': demoPartner, ...services } = serviceComponents(plan);
  await Promise.all(Object.values(services).map(up));
  await up(demoPartner);
  return content;
}

/** Node's watcher outlives its program, and says so in the log alone. */
function tellWaiting({ name, logFile }: Program, say: (line: string) => void): void {
  const read = followFile(logFile, (line) => {
    if (line.includes('Waiting for file changes before restarting'))
      say(`${name} has ended and starts again when a file is saved. Its log: ${logFile}`);
  });
  setInterval(read, 500).unref();
}

async function shutDown(stack: Stack, starting: Promise<void>): Promise<void> {
  stack.phase = 'stopping';
  // A reader of stack.json may count on an answer: it goes first.
  rmSync(stack.run.stackFile, { force: true });
  await stack.endRehearsal();
  await stack.processes?.stopAll();
  // What was starting has failed by now; a fetch from the network is not waited for.
  await Promise.race([starting, sleep(1_000)]);
}

async function report({ phase, issuer, components }: Stack): Promise<StatusReport> {
  const processes = await Promise.all(
    [...components.values()].map(async ({ address, running, problem }) => ({
      name: running.name,
      pid: running.pid,
      address,
      state: (await problem()) ?? 'answers',
    })),
  );
  return { pid: process.pid, phase, issuer, processes };
}
