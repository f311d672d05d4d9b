// One run of the tool: reads the words, calls the command, prints its answer or its problem, gives the exit code.
import { CommanderError } from 'commander';
import { type ConnectionParts, openConnections } from '../connection/connections.ts';
import { problemOf } from '../connection/refusals.ts';
import { type Call, confirmOn } from './call.ts';
import { type Exit, exitCodes } from './exit-codes.ts';
import { Problem, usageProblem } from './problem.ts';
import { buildProgram, type Root, type Tree, type Typed } from './program.ts';
import { harmless, jsonText, type Terminal } from './terminal.ts';

/** What the process gives; nothing below reads it by itself. */
export interface Surroundings
  extends Pick<Call, 'now' | 'sleep' | 'signal' | 'input' | 'directory'>,
    Pick<ConnectionParts, 'actor' | 'newRequestId'> {
  readonly terminal: Terminal;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Longest time of a call that is no stream and names no limit of its own. */
const timeoutMs = 15_000;

/** Resolves with the exit code; everything else has been printed by then. */
export async function runTool(
  words: readonly string[],
  root: Root,
  tree: Tree,
  surroundings: Surroundings,
): Promise<number> {
  const { terminal } = surroundings;
  let exit: Exit = 'done';
  const program = buildProgram(root, tree, terminal, async (typed) => {
    exit = await runCommand(typed, surroundings);
  });
  try {
    await program.parseAsync([...words], { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.done.code;
    if (error instanceof CommanderError && error.code === 'commander.help') return exitCodes.usage.code;
    const problem = surroundings.signal.aborted ? interrupted() : asProblem(error);
    report(problem, terminal, words.includes('--json'));
    exit = problem.exit;
  }
  return exitCodes[exit].code;
}

async function runCommand(typed: Typed, surroundings: Surroundings): Promise<Exit> {
  const { command, operands, options, general } = typed;
  const { terminal, environment, directory } = surroundings;
  const sources = { flags: general, environment, stackFile: general.stack, directory };
  const actor = operatorName(general.operator ?? environment.PARTNERCTL_OPERATOR) ?? surroundings.actor;
  const services = openConnections({ ...surroundings, actor, sources, timeoutMs });
  const dryRun = options.dryRun !== undefined;
  const call: Call = {
    ...surroundings,
    services,
    json: general.json === true,
    dryRun,
    confirm: confirmOn(terminal, dryRun || options.yes !== undefined),
  };
  try {
    const answer = await command.run(call, operands, options);
    if (answer && call.json) terminal.out(`${jsonText(answer.json, 2)}\n`);
    else if (answer) (answer.aside ? terminal.err : terminal.out)(answer.text);
    return answer?.exit ?? 'done';
  } catch (error) {
    throw problemOf(error, () => services.whereIs(command.service));
  } finally {
    services.close();
  }
}

/** Undefined: the account's. The service knows no other form of name, and writes it into the audit log. */
function operatorName(given: string | undefined): string | undefined {
  if (!given) return undefined;
  if (/^[\w.@\\ -]{1,64}$/.test(given)) return given;
  throw usageProblem(
    'The operator is not a name: expected at most 64 letters, digits and . _ @ \\ - in ASCII.',
  );
}

function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof CommanderError) return misuse(error.message);
  const { message } = error instanceof Error ? error : { message: String(error) };
  return new Problem(`partnerctl failed: ${message}`, { exit: 'refused', code: 'unforeseen', cause: error });
}

/** commander writes `error: unknown command 'x'` and, where it has one, a suggestion in brackets below. */
function misuse(message: string): Problem {
  const [first = '', suggestion = ''] = message.replace(/^error: /, '').split('\n');
  const sentence = `${first.charAt(0).toUpperCase()}${first.slice(1)}`.replace(/\.?$/, '.');
  return usageProblem(sentence, suggestion.replace(/^\((.*)\)$/, '$1') || 'See --help.');
}

function interrupted(): Problem {
  return new Problem('Interrupted.', { exit: 'interrupted' });
}

function report(problem: Problem, terminal: Terminal, json: boolean): void {
  const { message, advice, mistakes, code, exit } = problem;
  if (json) {
    const error = { code, message, mistakes, advice: advice ?? null, exitCode: exitCodes[exit].code };
    terminal.err(`${jsonText({ error }, 2)}\n`);
    return;
  }
  const lines = [
    terminal.paintErr('red', harmless(message)),
    ...mistakes.map((mistake) => `  - ${harmless(mistake)}`),
    ...(advice === undefined ? [] : [harmless(advice)]),
  ];
  terminal.err(`${lines.join('\n')}\n`);
}
