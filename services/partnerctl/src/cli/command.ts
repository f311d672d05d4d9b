// What a command is made of: its help with examples, the context that it runs in, and the result that it returns.
import { Command, type CommandUnknownOpts, type OptionValues } from '@commander-js/extra-typings';
import type { Services } from '../connection/connection.ts';
import type { Exit } from './errors.ts';
import { paint, type Terminal } from './terminal.ts';

export interface CommandContext {
  readonly terminal: Terminal;
  readonly services: Services;
  readonly now: () => Date;
  /** Resolves after so many milliseconds. */
  readonly sleep: (ms: number) => Promise<void>;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  readonly json: boolean;
  /** Say what would change and change nothing. */
  readonly dryRun: boolean;
  /** Relative file names start here. */
  readonly directory: string;
  /** Standard input, for a file named `-`. */
  readonly input: NodeJS.ReadableStream;
  /**
   * Resolves when the operator agrees or --yes was given, throws otherwise. `question` ends with a full stop;
   * `facts` are shown above it.
   */
  readonly confirm: (question: string, facts?: string) => Promise<void>;
}

export interface Result {
  /** Printed with --json. */
  readonly json: unknown;
  /** Printed without. */
  readonly text: string;
  /** For a result that is bad news, such as a broken chain. */
  readonly exit?: Exit;
  /** `text` goes to standard error, for standard output holds something else. */
  readonly textToStderr?: boolean;
}

/** A command's own function; it resolves with undefined when it has printed its result itself. */
type Action<Args extends readonly unknown[]> = (
  context: CommandContext,
  ...args: Args
) => Promise<Result | undefined>;

const actionByCommand = new WeakMap<object, Action<readonly unknown[]>>();

/** Gives a command what it does with its arguments and, last, its options. */
export function withAction<Args extends unknown[], Opts extends OptionValues>(
  command: Command<Args, Opts>,
  action: Action<[...Args, Opts]>,
): CommandUnknownOpts {
  actionByCommand.set(command, action as Action<readonly unknown[]>);
  return command;
}

/** Has `run` called for the command that a command line names; `act` does what it asks for. */
export function installActions(
  parent: CommandUnknownOpts,
  run: (
    act: (context: CommandContext) => Promise<Result | undefined>,
    command: CommandUnknownOpts,
  ) => Promise<void>,
): void {
  for (const command of parent.commands) {
    const action = actionByCommand.get(command);
    if (action) command.action((...args) => run((context) => action(context, ...args), command));
    installActions(command, run);
  }
}

/** Options whose effect every command finds in its context. */
const commonOptions = {
  '--dry-run': 'Show what would change; change nothing',
  '--yes': 'Do not ask for confirmation',
} as const;

interface CommandHelp {
  readonly about: string;
  /** A further paragraph for the command's own help. */
  readonly details?: string;
  /** What each does, and the command line as it is typed. */
  readonly examples: Readonly<Record<string, string>>;
  /** After its own: --dry-run where it writes, --yes where it asks for confirmation. */
  readonly takes?: readonly (keyof typeof commonOptions)[];
}

const helpByCommand = new WeakMap<object, CommandHelp>();

/** Command lines. */
export function examplesOf(command: CommandUnknownOpts): readonly string[] {
  return Object.values(helpByCommand.get(command)?.examples ?? {});
}

export function newCommand(name: string, help: CommandHelp) {
  const { about, details, examples } = help;
  const lines = Object.entries(examples).map(([does, line]) => `  ${paint('dim', `# ${does}`)}\n  ${line}`);
  const command = new Command(name)
    .summary(about)
    .description(details === undefined ? `${about}.` : `${about}.\n\n${details}`)
    .addHelpText('after', `\n${paint('bold', 'Examples:')}\n${lines.join('\n')}`);
  helpByCommand.set(command, help);
  return command;
}

/** A noun: commands about one thing. */
export function newGroup(name: string, commands: readonly CommandUnknownOpts[], help: CommandHelp) {
  const group = newCommand(name, help).usage('<command> [options]');
  for (const command of commands) {
    for (const flag of helpByCommand.get(command)?.takes ?? []) command.option(flag, commonOptions[flag]);
    group.addCommand(command);
  }
  return group;
}
