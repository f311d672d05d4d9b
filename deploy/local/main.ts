// The local stack: everything on one machine by one command.
import { spawn } from 'node:child_process';
import { closeSync, fstatSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from '@commander-js/extra-typings';
import { runOption, type StartOptions, startCommand } from './arguments.ts';
import { askStatus, askStop, takeControl } from './control.ts';
import { commandFor, openRunDirectory, type RunDirectory, readJson } from './run-directory.ts';
import { enterShell } from './shell.ts';
import { backgroundMark, endRecorded, hearStop } from './shutdown.ts';
import { isHealthy, type StackFile, stackTable, statusTable } from './stack-file.ts';
import { supervise } from './supervisor.ts';

// A closed terminal or pipe must not leave processes behind.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
// `pnpm start -- --port 1` hands the two dashes on.
const words = process.argv.slice(2).filter((word) => word !== '--');

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function start(run: RunDirectory, options: StartOptions): Promise<number> {
  if (process.platform === 'win32') throw new Error('On Windows, start it in WSL.');
  enterShell();
  return options.detach ? startDetached(run) : supervise(run, options, say);
}

/** Starts a supervisor that belongs to no terminal. Returns when everything answers. */
async function startDetached(run: RunDirectory): Promise<number> {
  const logFile = join(run.logs, 'supervisor.log');
  const log = openSync(logFile, 'a', 0o600);
  const { size } = fstatSync(log);
  const others = words.filter((word) => word !== '--detach');
  const supervisor = spawn(process.execPath, [join(import.meta.dirname, 'main.ts'), ...others], {
    detached: true,
    stdio: ['ignore', log, log, ...coverInherited(log)],
    // A debugger's port is the caller's; the caller ends first.
    env: { ...process.env, NODE_OPTIONS: '', STOP_WITH_PARENT: '', [backgroundMark]: 'true' },
  });
  closeSync(log);
  supervisor.unref();
  let exitCode: number | undefined;
  let interrupted = false;
  supervisor.once('exit', (code) => {
    exitCode = interrupted ? 130 : code || 1;
  });
  const interrupt = (): void => {
    interrupted = true;
    // One that has just begun holds no socket yet.
    void askStop(run).then((stopped) => stopped ?? supervisor.kill('SIGTERM'));
  };
  // Its reaper ends what a killed supervisor has started.
  hearStop(interrupt, () => supervisor.kill('SIGKILL'));
  while (exitCode === undefined) {
    const status = await askStatus(run);
    if (status?.phase === 'ready' && status.pid === supervisor.pid) break;
    await sleep(100);
  }
  const said = readFileSync(logFile).subarray(size).toString('utf8');
  say(said.replace('The stack runs.\n', '').trimEnd());
  if (exitCode !== undefined) return exitCode;
  say(stackTable(readJson<StackFile>(run.stackFile)));
  say(`\nIt runs in the background. End it with: ${commandFor(run, 'stop')}`);
  return 0;
}

/** The log covers what is open above standard error: a caller's pipe would keep its reader waiting, a lock stay taken. */
function coverInherited(log: number): readonly number[] {
  if (process.platform !== 'linux') return [];
  const highest = Math.max(...readdirSync('/proc/self/fd').map(Number));
  return Array(highest - 2).fill(log);
}

/** Also ends what a killed supervisor has left; the socket is held meanwhile, so that no start begins. */
async function stop(run: RunDirectory): Promise<number> {
  const stopped = await askStop(run);
  const taken = stopped === undefined && (await takeControl(run));
  if (taken) await endRecorded(run);
  if (stopped) say('The stack has stopped.');
  else if (taken) say('The stack does not run.');
  else
    say('The stack could not be stopped: another start or stop is under way, or it belongs to another user.');
  return stopped || taken ? 0 : 1;
}

async function status(run: RunDirectory): Promise<number> {
  const report = await askStatus(run);
  say(report ? statusTable(report) : 'The stack does not run.');
  return report && isHealthy(report) ? 0 : 1;
}

type Work = (run: RunDirectory, options: StartOptions) => Promise<number>;
const carriedOut = (work: Work) => async (options: Partial<StartOptions>) =>
  process.exit(await work(options.runDir ?? openRunDirectory(), options as StartOptions));

const program = new Command('npx --yes pnpm@12').addCommand(startCommand().action(carriedOut(start)));
const others = [
  ['stop', 'end it, and wait until all of it is gone', stop],
  ['status', 'show what runs; exit code 0 when all of it answers, else 1', status],
] as const;
for (const [name, about, work] of others)
  program.command(name).description(about).addOption(runOption()).action(carriedOut(work));
for (const command of [program, ...program.commands])
  command.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));
try {
  await program.parseAsync(words, { from: 'user' });
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
