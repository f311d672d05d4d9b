// The local stack: everything on one machine by one command.
import { Command } from '@commander-js/extra-typings';
import { runOption, type StartOptions, startCommand } from './arguments.ts';
import { askStatus, askStop, takeControl } from './control.ts';
import { startDetached } from './detached.ts';
import { openRunDirectory, type RunDirectory } from './run-directory.ts';
import { endRecorded } from './shutdown.ts';
import { isHealthy, statusTable } from './stack-file.ts';
import { supervise } from './supervisor.ts';

// A closed terminal or pipe must not leave processes behind.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
// `pnpm start -- --port 1` hands the two dashes on.
const words = process.argv.slice(2).filter((word) => word !== '--');

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function start(run: RunDirectory, options: StartOptions): Promise<number> {
  return options.detach ? startDetached(run, words, say) : supervise(run, options, say);
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
