import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { expect, test } from 'vitest';
import { run } from '../testing/run.ts';
import { createProgram } from './program.ts';

interface Placed {
  readonly path: readonly string[];
  readonly command: CommandUnknownOpts;
}

function placed(command: CommandUnknownOpts, path: readonly string[] = []): Placed[] {
  const below = command.commands.flatMap((one) => placed(one, [...path, one.name()]));
  return [{ path, command }, ...below];
}

const program = createProgram();
const all = placed(program);
const leaves = all.filter(({ command }) => command.commands.length === 0);
const flags = ({ options }: CommandUnknownOpts) => options.map(({ long }) => long);

test.each(all.map(({ path }) => path.join(' ')))(
  '`partnerctl %s --help` says how and shows how',
  async (path) => {
    const { exit, out, err } = await run([...path.split(' ').filter(Boolean), '--help']);
    expect({ exit, err }).toEqual({ exit: 0, err: '' });
    expect(out).toMatch(new RegExp(`^Usage: partnerctl ?${path}`));
    expect(out).toContain('\nOptions:\n');
    expect(out.split('\n').filter((line) => !line.startsWith('  ') && line.length > 100)).toEqual([]);
  },
);

test('each command has examples, which name commands and options that exist', async () => {
  for (const { path } of leaves) {
    const { out } = await run([...path, '--help']);
    const examples = out.split('\nExamples:\n')[1]?.match(/(?<=partnerctl ).*/g) ?? [];
    expect(examples, path.join(' ')).not.toEqual([]);
    for (const line of examples) {
      const argv = line.split(/\s+/);
      const found = leaves.find((leaf) => leaf.path.every((word, at) => argv[at] === word));
      const known = found && [...flags(found.command), ...flags(program)];
      expect(known, line).toEqual(expect.arrayContaining(line.match(/(?<=\s)--[a-z-]+/g) ?? []));
    }
  }
});

// docs/cli.md, which `pnpm check` compares, names the options of each command.
test('only what can be tried dry asks', () => {
  const asks = leaves.map(({ command }) => flags(command)).filter((all) => all.includes('--yes'));
  expect(asks).not.toEqual([]);
  for (const all of asks) expect(all).toContain('--dry-run');
});

test('no option hides a general one', () => {
  const own = leaves.flatMap(({ command }) => flags(command));
  expect(flags(program).filter((flag) => own.includes(flag))).toEqual([]);
});
