// Turns the declared commands into a commander program: parsing, suggestions, and help with examples at every level.
import { Argument, Command as Parser, Option as ParserOption } from 'commander';
import type { Command, Example, Noun } from './command.ts';
import { flagOf } from './command.ts';
import type { Option } from './options.ts';
import type { Terminal } from './terminal.ts';

export type Tree = readonly (Noun | Command)[];

/** What the person typed, for one command. */
export interface Typed {
  readonly command: Command;
  readonly operands: readonly (string | undefined)[];
  readonly options: Readonly<Record<string, readonly string[] | undefined>>;
  readonly general: General;
}

/** Options that every command takes. */
interface General {
  readonly json?: true;
  readonly identity?: string;
  readonly catalog?: string;
  readonly stack?: string;
  readonly operator?: string;
}

export interface Root {
  readonly about: string;
  readonly version: string;
  readonly examples: readonly Example[];
}

const generalOptions: readonly (readonly [flags: string, about: string])[] = [
  ['--json', 'Answer in JSON, times in UTC'],
  ['--no-color', 'Write without colours; so does the variable NO_COLOR'],
  ['--identity <address>', 'Where identity listens for operators (PARTNERCTL_IDENTITY)'],
  ['--catalog <address>', 'Where design-catalog listens for the feed (PARTNERCTL_CATALOG)'],
  ['--stack <file>', 'A stack.json that names both (PARTNERCTL_STACK); found by itself below .run'],
  ['--operator <name>', 'Who you are, where an account is shared, as in a pod (PARTNERCTL_OPERATOR)'],
];

export function buildProgram(
  root: Root,
  tree: Tree,
  terminal: Terminal,
  run: (typed: Typed) => Promise<void>,
): Parser {
  const program = new Parser('partnerctl')
    .description(root.about)
    .version(root.version, '--version', 'Print the version')
    .usage('<command> [options]');
  withManners(program, root.examples, terminal);
  for (const [flags, about] of generalOptions) program.option(flags, about);
  for (const node of tree) program.addCommand(nodeParser(node, program, terminal, run));
  return program;
}

type Runner = (typed: Typed) => Promise<void>;

function nodeParser(node: Noun | Command, program: Parser, terminal: Terminal, run: Runner): Parser {
  return 'commands' in node
    ? nounParser(node, program, terminal, run)
    : leafParser(node, program, terminal, run);
}

function nounParser(noun: Noun, program: Parser, terminal: Terminal, run: Runner): Parser {
  const parser = new Parser(noun.name)
    .summary(noun.about)
    .description(describe(noun))
    .usage('<command> [options]');
  withManners(parser, noun.examples, terminal);
  for (const node of noun.commands) parser.addCommand(nodeParser(node, program, terminal, run));
  return parser;
}

function leafParser(command: Command, program: Parser, terminal: Terminal, run: Runner): Parser {
  const parser = new Parser(command.name).summary(command.about).description(describe(command));
  withManners(parser, command.examples, terminal);
  for (const { term, about } of command.operands) parser.addArgument(new Argument(term, about));
  for (const [name, option] of Object.entries(command.options)) parser.addOption(parserOption(name, option));
  if (command.writes) parser.option('--dry-run', 'Print what would change and change nothing');
  if (command.asks) parser.option('--yes', 'Do not ask before what cannot be undone');
  parser.action(async () => {
    const options = Object.entries(parser.opts()).map(([name, value]) => [name, wordsOf(value)]);
    await run({
      command,
      operands: parser.args,
      options: Object.fromEntries(options),
      general: program.opts<General>(),
    });
  });
  return parser;
}

function describe({ about, details }: { readonly about: string; readonly details?: string }): string {
  return details === undefined ? `${about}.` : `${about}.\n\n${details}`;
}

function parserOption(name: string, option: Option<unknown>): ParserOption {
  const short = option.short === undefined ? '' : `-${option.short}, `;
  const value = option.value === undefined ? '' : ` ${option.value}`;
  const parsed = new ParserOption(`${short}${flagOf(name)}${value}`, option.about);
  if (option.choices) parsed.choices([...option.choices]);
  if (option.repeats) {
    parsed.argParser<readonly string[]>((word, before: readonly string[] = []) => [...before, word]);
  }
  return parsed;
}

function wordsOf(value: unknown): readonly string[] | undefined {
  if (value === undefined || value === false) return undefined;
  return Array.isArray(value) ? value.map(String) : [String(value)];
}

/** Errors are thrown rather than printed, and help ends with examples. */
function withManners(parser: Parser, examples: readonly Example[], terminal: Terminal): void {
  const { paint } = terminal;
  parser
    .helpOption('-h, --help', 'Print this help')
    .helpCommand(false)
    .exitOverride()
    .showSuggestionAfterError()
    .configureOutput({
      writeOut: terminal.out,
      writeErr: terminal.err,
      outputError: () => {},
      getOutHelpWidth: () => Math.min(terminal.width, 100),
      getErrHelpWidth: () => Math.min(terminal.width, 100),
      getOutHasColors: () => true,
      getErrHasColors: () => true,
    })
    .configureHelp({
      showGlobalOptions: true,
      visibleGlobalOptions: ({ parent }) => globalOptions(parent),
      styleTitle: (title) => paint('bold', title),
      subcommandTerm: (command) => command.name(),
    })
    .addHelpText(
      'after',
      `\n${paint('bold', 'Examples:')}\n${examples.map((one) => written(one, terminal)).join('\n')}`,
    );
}

/** Those of the root but for --version, which is its own. */
function globalOptions(parser: Parser | null): ParserOption[] {
  if (parser?.parent) return globalOptions(parser.parent);
  return parser?.options.filter(({ long }) => long !== '--version') ?? [];
}

function written({ does, line }: Example, { paint }: Terminal): string {
  return `  ${paint('dim', `# ${does}`)}\n  ${line}`;
}
