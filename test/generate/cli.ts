// The reference of partnerctl: docs/cli.md, and the exit codes.
import { exitCodes } from '../../services/partnerctl/src/cli/errors.ts';
import { createProgram } from '../../services/partnerctl/src/cli/program.ts';
import { code, type Part, table } from './page.ts';

const program = createProgram();

type Parser = typeof program;

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
  const helper = command.createHelp();
  const operands = helper.visibleArguments(command);
  const options = helper.visibleOptions(command).filter(({ long }) => long !== '--help');
  const level = name.includes(' ') ? '###' : '##';
  const usage = options.length > 0 ? command.usage() : command.usage().replace('[options]', '').trim();
  return [
    `${level} ${code(`${name} ${usage}`.trim())}`,
    command.description().replaceAll('\n\n', ' '),
    ...operands.map((operand) => `- ${code(helper.argumentTerm(operand))}: ${operand.description}`),
    ...options.map((option) => `- ${code(option.flags)}: ${helper.optionDescription(option)}`),
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
