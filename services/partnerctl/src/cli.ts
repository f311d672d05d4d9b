// One run of the tool, from argv to the exit code.
import { CommanderError } from '@commander-js/extra-typings';
import { withArgumentsApart } from './cli/arguments.ts';
import { type CommandContext, runActions } from './cli/command.ts';
import { type ConnectionDeps, openServices, toCliError } from './connection/services.ts';
import { CliError, type Exit, exitCodes, usageError } from './output/errors.ts';
import { jsonText } from './output/result.ts';
import { confirm, paint, sanitize, type Terminal } from './output/terminal.ts';
import { configureHelp, createProgram } from './program.ts';

export interface CliDeps
  extends Pick<CommandContext, 'now' | 'sleep' | 'signal' | 'input' | 'directory' | 'terminal'>,
    Pick<ConnectionDeps, 'actor' | 'newRequestId' | 'environment'> {}

type CommonOptions = Readonly<Partial<Record<'identity' | 'catalog' | 'stack' | 'operator', string>>> &
  Readonly<Partial<Record<'json' | 'dryRun' | 'yes', true>>>;

const timeoutMs = 15_000;

export async function runCli(argv: readonly string[], deps: CliDeps): Promise<number> {
  let exit: Exit = 'done';
  const program = createProgram();
  runActions(program, async (act, command) => {
    exit = await runAction(deps, act, command.optsWithGlobals());
  });
  configureHelp(program, deps.terminal);
  try {
    await program.parseAsync(withArgumentsApart(program, argv), { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.done.code;
    if (error instanceof CommanderError && error.code === 'commander.help') return exitCodes.usage.code;
    const failure = deps.signal.aborted ? new CliError('interrupted', 'Interrupted.') : asCliError(error);
    report(failure, deps.terminal, argv.includes('--json'));
    exit = failure.exit;
  }
  return exitCodes[exit].code;
}

type Act = Parameters<Parameters<typeof runActions>[1]>[0];

async function runAction(deps: CliDeps, act: Act, options: CommonOptions): Promise<Exit> {
  const { terminal, environment } = deps;
  const actor = operatorName(options.operator ?? environment.PARTNERCTL_OPERATOR) ?? deps.actor;
  const services = openServices({ ...deps, actor, flags: options, timeoutMs });
  const { json = false, dryRun = false, yes = false } = options;
  const context: CommandContext = {
    ...deps,
    services,
    json,
    dryRun,
    confirm: (question, facts) => confirm(terminal, dryRun || yes, question, facts),
  };
  try {
    const result = await act(context);
    if (!result) return 'done';
    if (json) terminal.out.write(`${jsonText(result.json, 2)}\n`);
    else (result.textToStderr ? terminal.err : terminal.out).write(result.text);
    return result.exit ?? 'done';
  } catch (error) {
    throw toCliError(error, services.lastAddress);
  } finally {
    services.close();
  }
}

/** The account's if undefined. The service accepts only this form. */
function operatorName(name: string | undefined): string | undefined {
  if (!name) return undefined;
  if (/^[\w.@\\ -]{1,64}$/.test(name)) return name;
  throw usageError(
    "The operator's name is not valid: use at most 64 ASCII letters, digits, spaces and . _ @ \\ -.",
  );
}

function asCliError(error: unknown): CliError {
  if (error instanceof CliError) return error;
  if (error instanceof CommanderError) return misuse(error.message);
  const { message } = error instanceof Error ? error : { message: String(error) };
  return new CliError('refused', `partnerctl failed: ${message}`, { code: 'unforeseen', cause: error });
}

/** commander writes `error: unknown command 'x'`, with any suggestion in brackets below. */
function misuse(message: string): CliError {
  const [first = '', suggestion = ''] = message.replace(/^error: /, '').split('\n');
  const sentence = `${first.charAt(0).toUpperCase()}${first.slice(1)}`.replace(/\.?$/, '.');
  const usual = first.startsWith('unknown option')
    ? 'See --help; an argument that begins with a dash may follow --.'
    : 'See --help.';
  return usageError(sentence, suggestion.replace(/^\((.*)\)$/, '$1') || usual);
}

function report({ message, exit, details }: CliError, { err }: Terminal, json: boolean): void {
  const { advice = null, mistakes = [], code = exit, requestId = null } = details;
  if (json) {
    const error = { code, message, mistakes, advice, requestId, exitCode: exitCodes[exit].code };
    err.write(`${jsonText({ error }, 2)}\n`);
    return;
  }
  const below = [...mistakes.map((mistake) => `  - ${mistake}`), ...(advice === null ? [] : [advice])];
  err.write(`${[paint('red', sanitize(message)), ...below.map(sanitize)].join('\n')}\n`);
}
