// Words that begin with a dash: options, or identifiers of users, clients, secrets, keys and requests.
import type { CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { usageError } from '../output/errors.ts';

/** All that the command takes, those of every command included. */
export function optionsOf(program: CommandUnknownOpts, command: CommandUnknownOpts): readonly Option[] {
  return [...new Set([...command.createHelp().visibleOptions(command), ...program.options])];
}

/** Puts arguments behind `--` if one begins with a dash. Throws if an option stands where a value must. */
export function withArgumentsApart(program: CommandUnknownOpts, argv: readonly string[]): string[] {
  let command = program;
  const words: string[] = [];
  const given: string[] = [];
  const rest = [...argv];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const below = command.commands.find((one) => one.name() === word);
    const options = optionsOf(program, command);
    if (word === '--') given.push(...rest.splice(0));
    else if (below) {
      command = below;
      words.push(word);
    } else if (isArgument(word, options)) given.push(word);
    else words.push(word, ...valueAfter(word, options, rest));
  }
  const isApart = given.some((word) => word.startsWith('-'));
  const fits = command.commands.length === 0 && given.length <= command.registeredArguments.length;
  return isApart && fits ? [...words, '--', ...given] : [...argv];
}

/** Base64url of 16 bytes, as a `sub` is made. */
const generated = /^(?=.*[A-Z0-9_])[A-Za-z0-9_-]{22}$/;

function isArgument(word: string, options: readonly Option[]): boolean {
  if (!word.startsWith('-') || word === '-') return true;
  // A single dash is a misspelt option if a second one makes it right.
  return word.length > 2 && !isOption(word, options) && !isKnown(`-${word}`, options);
}

function valueAfter(word: string, options: readonly Option[], rest: string[]): string[] {
  const option = options.find(isNamed(word));
  const [value] = rest;
  if (!option?.required || value === undefined) return [];
  if (isOption(value, options)) throw usageError(`Option '${option.flags}' argument missing.`, 'See --help.');
  return rest.splice(0, 1);
}

/** Also one that does not exist. */
function isOption(word: string, options: readonly Option[]): boolean {
  return isKnown(word, options) || (word.startsWith('--') && !generated.test(word));
}

function isKnown(word: string, options: readonly Option[]): boolean {
  return options.some(isNamed(word.replace(/=.*/s, '')));
}

function isNamed(word: string) {
  return ({ long, short }: Option): boolean => long === word || short === word;
}
