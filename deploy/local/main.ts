// The local stack: everything on one machine by one command.
import { parseCommand, type StartOptions, UsageError, usage } from './arguments.ts';
import { askStatus, askStop, type ControlHandlers, isReleased, takeControl } from './control.ts';
import { backgroundMark, startDetached } from './detached.ts';
import { endOrphans } from './orphans.ts';
import { openRunDirectory, type RunDirectory } from './run-directory.ts';
import { supervise } from './supervisor.ts';
import { isWhole, statusTable } from './table.ts';

const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};
// A closed terminal or pipe is no reason to leave processes behind.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

async function main(words: readonly string[]): Promise<number> {
  const command = parseCommand(words);
  if (command.name === 'help') {
    say(usage);
    return 0;
  }
  const run = openRunDirectory(command.runDirectory);
  if (command.name === 'start') return start(run, command.options, words);
  return command.name === 'stop' ? stop(run) : status(run);
}

function start(run: RunDirectory, options: StartOptions, words: readonly string[]): Promise<number> {
  const attachment = {
    holdsInput: process.env.STOP_WITH_PARENT === 'true',
    background: process.env[backgroundMark] === 'true',
  };
  if (!options.detach) return supervise(run, options, say, attachment);
  const others = words.filter((word) => word !== '--detach');
  return startDetached(run, import.meta.filename, others, say);
}

/** For the moment in which `stop` holds the socket, so that no start begins meanwhile. */
const nothingRuns: ControlHandlers = {
  status: async () => ({ pid: process.pid, phase: 'stopping', issuer: 'The stack', processes: [] }),
  stop: () => {},
};

/** Also ends what a killed supervisor has left. */
async function stop(run: RunDirectory): Promise<number> {
  const ran = await askStop(run);
  if (ran && (await isReleased(run))) {
    say('The stack has stopped.');
    return 0;
  }
  if (ran || !(await takeControl(run, nothingRuns))) {
    say(
      'The stack could not be stopped: another start or stop of it is under way, or it belongs to another user.',
    );
    return 1;
  }
  await endOrphans(run);
  say('The stack does not run.');
  return 0;
}

async function status(run: RunDirectory): Promise<number> {
  const report = await askStatus(run);
  say(report ? statusTable(report) : 'The stack does not run.');
  return report && isWhole(report) ? 0 : 1;
}

try {
  process.exit(await main(process.argv.slice(2)));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(error instanceof UsageError ? 2 : 1);
}
