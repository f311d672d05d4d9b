// What may come next on a command line: nouns, commands, options and their choices. Shell completion asks for it.
import { type Command, flagOf, type Noun } from '../frame/command.ts';
import type { Option } from '../frame/options.ts';
import type { Tree } from '../frame/program.ts';

export interface Candidate {
  readonly word: string;
  readonly about: string;
}

type Node = Noun | Command;

const general: readonly Candidate[] = [
  { word: '--json', about: 'Answer in JSON, times in UTC' },
  { word: '--no-color', about: 'Write without colours' },
  { word: '--identity', about: 'Where identity listens for operators' },
  { word: '--catalog', about: 'Where design-catalog listens for the feed' },
  { word: '--stack', about: 'A stack.json that names both' },
  { word: '--help', about: 'Print help' },
];

/** Candidates for the last of `words`, which may be empty. None means: a file, if anything. */
export function candidates(tree: Tree, words: readonly string[]): readonly Candidate[] {
  const typed = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  const at = before.reduce<{ readonly nodes: Tree; readonly node?: Node }>(
    ({ nodes, node }, word) => {
      const found = nodes.find(({ name }) => name === word);
      return found
        ? { nodes: 'commands' in found ? found.commands : [], node: found }
        : { nodes, ...(node ? { node } : {}) };
    },
    { nodes: tree },
  );
  const command = at.node && !('commands' in at.node) ? at.node : undefined;
  const open = command ? optionNamed(command, before.at(-1)) : undefined;
  const choices = open?.value === undefined ? undefined : (open.choices ?? []);
  const offered = choices?.map((word) => ({ word, about: open?.about ?? '' })) ?? [
    ...at.nodes.map(({ name, about }) => ({ word: name, about })),
    ...(typed.startsWith('-') ? [...(command ? optionsOf(command) : []), ...general] : []),
  ];
  return offered.filter(({ word }) => word.startsWith(typed));
}

function optionNamed({ options }: Command, word: string | undefined): Option<unknown> | undefined {
  return Object.entries(options).find(([name]) => flagOf(name) === word)?.[1];
}

function optionsOf({ options, writes, asks }: Command): Candidate[] {
  const own = Object.entries(options).map(([name, { about }]) => ({ word: flagOf(name), about }));
  const dryRun = { word: '--dry-run', about: 'Print what would change and change nothing' };
  const yes = { word: '--yes', about: 'Do not ask before what cannot be undone' };
  return [...own, ...(writes ? [dryRun] : []), ...(asks ? [yes] : [])];
}

/** A line per candidate, as the completion scripts read them: word, tab, explanation. */
export function candidateLines(tree: Tree, words: readonly string[]): string {
  return candidates(tree, words)
    .map(({ word, about }) => `${word}\t${about}\n`)
    .join('');
}
