// cli/ is what every command is made of: its help, its context, and option values. The commands stand in the folders and files of
// their nouns.

// A command: its help with examples, and its context.
import { Command, type CommandUnknownOpts, type OptionValues } from '@commander-js/extra-typings';
import type { Services } from '../connection/services.ts';
import { usageError } from '../output/errors.ts';
import type { Result } from '../output/result.ts';
import { paint, type Terminal } from '../output/terminal.ts';

export interface CommandContext {
  readonly terminal: Terminal;
  readonly services: Services;
  readonly now: () => Date;
  readonly sleep: (ms: number) => Promise<void>;
  readonly signal: AbortSignal;
  readonly json: boolean;
  readonly dryRun: boolean;
  readonly directory: string;
  readonly input: NodeJS.ReadableStream;
  /** Throws unless the operator agrees or gave --yes. */
  readonly confirm: (question: string, facts?: string) => Promise<void>;
}

type Act = (context: CommandContext) => Promise<Result | undefined>;
type Run = (act: Act, command: CommandUnknownOpts) => Promise<void>;

const runs = new WeakMap<CommandUnknownOpts, Run>();

export function runActions(program: CommandUnknownOpts, run: Run): void {
  runs.set(program, run);
}

export function withAction<Args extends unknown[], Opts extends OptionValues>(
  typed: Command<Args, Opts>,
  action: (context: CommandContext, ...args: [...Args, Opts]) => ReturnType<Act>,
): CommandUnknownOpts {
  const command: CommandUnknownOpts = typed;
  return command.action(async (...args) => {
    if (args.includes('')) throw usageError('An argument is empty.');
    const act: Act = (context) => action(context, ...(args as unknown as [...Args, Opts]));
    await runs.get(rootOf(command))?.(act, command);
  });
}

function rootOf(command: CommandUnknownOpts): CommandUnknownOpts {
  return command.parent ? rootOf(command.parent) : command;
}

const commonOptions = {
  '--dry-run': 'Show what would change; change nothing',
  '--yes': 'Do not ask for confirmation',
} as const;

interface CommandHelp {
  readonly about: string;
  readonly details?: string;
  readonly examples: Readonly<Record<string, string>>;
  readonly takes?: readonly (keyof typeof commonOptions)[];
}

export function newCommand(name: string, { about, details, examples, takes = [] }: CommandHelp) {
  const lines = Object.entries(examples).map(([does, line]) => `  ${paint('dim', `# ${does}`)}\n  ${line}`);
  const command = new Command(name)
    .summary(about)
    .description(details === undefined ? `${about}.` : `${about}.\n\n${details}`)
    .addHelpText('after', `\n${paint('bold', 'Examples:')}\n${lines.join('\n')}`);
  for (const flag of takes) command.option(flag, commonOptions[flag]);
  return command;
}

export function newGroup(name: string, about: string, commands: readonly CommandUnknownOpts[]) {
  const group = new Command(name).summary(about).description(`${about}.`).usage('<command> [options]');
  for (const command of commands) group.addCommand(command);
  return group;
}
