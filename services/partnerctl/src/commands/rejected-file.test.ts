import { existsSync, linkSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ClientService } from '@course-exchange/proto/operator/v1/client';
import { UserService } from '@course-exchange/proto/operator/v1/user';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runCommand } from '../../testing/command-run.ts';
import type { Command } from '../frame/command.ts';
import { Problem } from '../frame/problem.ts';
import { designsNoun } from './designs/designs.ts';
import { userImport } from './user/import.ts';

let work: string;
let input: string;
beforeEach(() => {
  work = mkdtempSync(join(tmpdir(), 'partnerctl-rejected-'));
  input = join(work, 'lines.ndjson');
  writeFileSync(input, 'not JSON\n');
});
afterEach(() => rmSync(work, { recursive: true }));

const imports = [userImport, ...designsNoun.commands]
  .flatMap((node) => ('commands' in node ? [] : [node]))
  .filter(({ options }) => 'rejected' in options)
  .map((command, at): [string, Command] => [at === 0 ? 'users' : 'designs', command]);

function run(command: Command, rejected: string | undefined, dryRun: boolean) {
  const options = rejected === undefined ? {} : { rejected: [rejected] };
  return runCommand(
    command,
    (router) => {
      router.service(ClientService, { describeInstallation: () => ({ issuer: 'https://here.example' }) });
      router.service(UserService, {});
    },
    { operands: [input], options, dryRun },
  );
}

async function refusal(attempt: Promise<unknown>): Promise<Problem> {
  const error = await attempt.catch((thrown: unknown) => thrown);
  if (error instanceof Problem) return error;
  throw new Error(`No problem but ${JSON.stringify(error)}.`);
}

test('both imports are under test', () =>
  expect(imports.map(([name]) => name)).toEqual(['users', 'designs']));

test.each(imports)(
  'a dry import of %s writes no file, removes none and speaks of none',
  async (_, command) => {
    const before = `${JSON.stringify({ line: 3, reason: 'Earlier.' })}\n`;
    writeFileSync(`${input}.rejected`, before);
    const answer = await run(command, undefined, true);
    expect(answer?.exit).toBe('refused');
    expect(answer?.text).not.toContain('All rejected lines are in');
    expect(answer?.json).toMatchObject({ rejected: 1, rejectedFile: null });
    expect(readFileSync(`${input}.rejected`, 'utf8')).toBe(before);
    writeFileSync(input, '');
    await run(command, undefined, true);
    expect(existsSync(`${input}.rejected`)).toBe(true);
  },
);

test.each(imports)(
  'rejected %s never go to the input or its journal, by whichever name',
  async (_, command) => {
    symlinkSync(input, join(work, 'link'));
    linkSync(input, join(work, 'twin'));
    symlinkSync(work, join(work, 'way'));
    const names = [
      input,
      `${input}.import`,
      ...['link', 'twin', 'way/lines.ndjson'].map((n) => join(work, n)),
    ];
    names.push(join(work, 'way/lines.ndjson.import'));
    for (const name of names) {
      const { exit, message } = await refusal(run(command, name, name.endsWith('link')));
      expect({ exit, message }).toEqual({ exit: 'usage', message: expect.stringContaining('cannot go to') });
    }
    expect(readFileSync(input, 'utf8')).toBe('not JSON\n');
  },
);

test.each(imports)('rejected %s replace no file that an import did not write', async (_, command) => {
  const other = join(work, 'letter');
  for (const content of ['Dear Ann\n', '', '{"line":"first"}\n']) {
    writeFileSync(other, content);
    for (const dryRun of [true, false]) {
      const { exit, message } = await refusal(run(command, other, dryRun));
      expect({ exit, message }).toEqual({ exit: 'usage', message: `${other} exists already.` });
    }
    expect(readFileSync(other, 'utf8')).toBe(content);
  }
  expect((await refusal(run(command, join(work, 'no/where'), false))).message).toContain('cannot be written');
});

test('the file of an earlier import is replaced, and removed when nothing is rejected', async () => {
  const file = join(work, 'aside');
  expect((await run(userImport, file, false))?.text).toContain(`All rejected lines are in ${file}.`);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ line: 1, reason: 'It is not JSON.' });
  writeFileSync(input, '\nnor this\n');
  await run(userImport, file, false);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ line: 2 });
  writeFileSync(input, '\n');
  await run(userImport, file, false);
  expect(existsSync(file)).toBe(false);
});
