import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { expect, test } from 'vitest';
import { run } from '../../testing/run.ts';
import { examplesOf } from './command.ts';
import { candidates } from './completion.ts';
import { createProgram, globalOptions } from './program.ts';

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
    expect(out.startsWith(['Usage: partnerctl', ...path.split(' ').filter(Boolean)].join(' '))).toBe(true);
    for (const heading of ['Options:', 'Examples:']) expect(out).toContain(`\n${heading}\n`);
    expect(out.split('\n').filter((line) => !line.startsWith('  ') && line.length > 100)).toEqual([]);
  },
);

test('each example names a command and options that exist', () => {
  for (const line of all.flatMap(({ command }) => examplesOf(command))) {
    const argv = line
      .replace(/^.*?(?=partnerctl )/, '')
      .split(/\s+/)
      .slice(1);
    const found = leaves.find(({ path }) => path.every((word, at) => argv[at] === word));
    expect(found, line).toBeDefined();
    const known = candidates(program, [...(found?.path ?? []), '-']).map(({ word }) => word);
    expect(known, line).toEqual(expect.arrayContaining(line.match(/(?<=\s)--[a-z-]+/g) ?? []));
  }
});

test('what changes something can be tried dry, and only what can be tried dry asks', () => {
  const dry = leaves.filter(({ command }) => flags(command).includes('--dry-run'));
  expect(dry.map(({ path }) => path.join(' '))).toEqual([
    'client register',
    'client edit',
    'client approve',
    'client activate',
    'client deactivate',
    'client secret add',
    'client secret retire',
    'client secret resume',
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
    'restore fence',
  ]);
  const asking = leaves.filter(({ command }) => flags(command).includes('--yes'));
  expect(asking.map(({ path }) => path.join(' '))).toEqual([
    'client deactivate',
    'client secret retire',
    'client secret resume',
    'client apply',
    'user disable',
    'user sign-out',
    'consent withdraw',
    'key activate',
    'key retire',
    'restore fence',
  ]);
});

test('no option hides a general one', () => {
  const general = globalOptions(program).map(({ long }) => long);
  for (const { command } of leaves) for (const flag of flags(command)) expect(general).not.toContain(flag);
});
