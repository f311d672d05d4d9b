// The reference of partnerctl: docs/cli.md, and the exit codes.
import { exitCodes } from '../../services/partnerctl/src/output/errors.ts';
import { createProgram } from '../../services/partnerctl/src/program.ts';
import { code, type Part, table } from './page.ts';

const program = createProgram();

type Parser = typeof program;

const helpOf = (command: Parser) => command.createHelp();
const optionsOf = (command: Parser) =>
  helpOf(command)
    .visibleOptions(command)
    .filter(({ long }) => long !== '--help');
const lineOf = (option: ReturnType<typeof optionsOf>[number], command: Parser) =>
  `${code(option.flags)}: ${helpOf(command).optionDescription(option)}`;

const leaves = (parent: Parser): readonly Parser[] =>
  parent.commands.flatMap((command) => (command.commands.length > 0 ? leaves(command) : [command]));

/** Lines of options that several commands explain alike: the page explains them once. */
const explained = leaves(program).flatMap((command) =>
  optionsOf(command).map((option) => [lineOf(option, command), option.flags] as const),
);
const uses = Map.groupBy(explained, ([line]) => line);
const shared = new Map(explained.filter(([line]) => (uses.get(line)?.length ?? 0) > 1));

export const sharedOptionsPart: Part = () => [...shared.keys()].map((line) => `- ${line}`).join('\n');

export const commandsPart: Part = () => commandsBelow(program, '').join('\n\n');

function commandsBelow(parent: Parser, path: string): readonly string[] {
  return parent.commands.flatMap((command) => {
    const name = `${path} ${command.name()}`.trim();
    const below = commandsBelow(command, name);
    if (below.length === 0) return [leaf(command, name)];
    return path === '' ? [`## ${name}\n${command.description()}`, ...below] : below;
  });
}

function leaf(command: Parser, name: string): string {
  const operands = helpOf(command).visibleArguments(command);
  const options = optionsOf(command);
  const lines = options.map((option) => lineOf(option, command));
  const elsewhere = lines.flatMap((line) => shared.get(line) ?? []).map(code);
  const level = name.includes(' ') ? '###' : '##';
  const usage = options.length > 0 ? command.usage() : command.usage().replace('[options]', '').trim();
  return [
    `${level} ${code(`${name} ${usage}`.trim())}`,
    command.description().replaceAll('\n\n', ' '),
    ...operands.map((operand) => `- ${code(helpOf(command).argumentTerm(operand))}: ${operand.description}`),
    ...lines.filter((line) => !shared.has(line)).map((line) => `- ${line}`),
    ...(elsewhere.length > 0 ? [`- ${elsewhere.join(', ')}`] : []),
  ].join('\n');
}

export const generalOptionsPart: Part = () =>
  table(
    ['option', 'what it does'],
    program.options.map(({ flags, description }) => [code(flags), description]),
  );

export const exitCodesPart: Part = () =>
  table(
    ['code', 'meaning'],
    Object.values(exitCodes).map(({ code: number, means }) => [String(number), means]),
  );
