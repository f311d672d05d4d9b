import { expect, test } from 'vitest';
import { runWords } from '../testing/tool-run.ts';
import { candidates } from './completion/candidates.ts';
import { type Command, flagOf, type Noun } from './frame/command.ts';
import { root, tree } from './tree.ts';

type Node = Noun | Command;
type Placed = { readonly words: readonly string[]; readonly node: Node };

function placed(nodes: readonly Node[], above: readonly string[] = []): Placed[] {
  return nodes.flatMap((node) => {
    const words = [...above, node.name];
    return [{ words, node }, ...('commands' in node ? placed(node.commands, words) : [])];
  });
}

const everything = placed(tree);
const commands = everything.flatMap(({ words, node }) =>
  'commands' in node ? [] : [{ words, command: node }],
);

test.each([{ words: [] as readonly string[] }, ...everything])(
  'help of `partnerctl $words` is as written down',
  async ({ words }) => {
    const { exit, out, err } = await runWords([...words, '--help']);
    expect({ exit, err }).toEqual({ exit: 0, err: '' });
    const name = ['partnerctl', ...words].join('-');
    await expect(out).toMatchFileSnapshot(`../testing/golden/${name}.txt`);
  },
);

test('every level has examples, and each example names a command and options that exist', () => {
  for (const { line } of [...root.examples, ...everything.flatMap(({ node }) => node.examples)]) {
    const words = line
      .replace(/^.*?(?=partnerctl )/, '')
      .split(/\s+/)
      .slice(1);
    const found = commands.find(({ words: own }) => own.every((word, at) => words[at] === word));
    expect(found, line).toBeDefined();
    const flags = line.match(/(?<=\s)--[a-z-]+/g) ?? [];
    const known = candidates(tree, [...(found?.words ?? []), '-']).map(({ word }) => word);
    expect(known, line).toEqual(expect.arrayContaining(flags));
  }
});

test('what changes something can be tried dry, and only what can be tried dry asks', () => {
  const dry = commands.filter(({ command }) => command.writes).map(({ words }) => words.join(' '));
  expect(dry).toEqual([
    'client register',
    'client edit',
    'client approve',
    'client activate',
    'client deactivate',
    'client secret add',
    'client secret retire',
    'client apply',
    'user import',
    'user disable',
    'user enable',
    'user sign-out',
    'consent withdraw',
    'key rotate',
    'key stage',
    'key activate',
    'key retire',
    'key reencrypt',
    'designs import',
    'designs verify',
  ]);
  for (const { words, command } of commands.filter(({ command }) => command.asks)) {
    expect(command.writes, words.join(' ')).toBe(true);
  }
});

test('no option hides a general one', () => {
  const general = candidates([], ['-']).map(({ word }) => word);
  for (const { command } of commands) {
    for (const name of Object.keys(command.options)) expect(general).not.toContain(flagOf(name));
  }
});
