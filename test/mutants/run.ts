// Plants each mutant in a copy of this tree, runs the suite that should notice, and says which test did:
//   mutants [--copies N] [LIST | ID …]
// A mutant is caught by a test that fails with it and passes without it. One that is not caught, or whose suite hangs or does not
// load, fails the command. `--places` only looks for the places.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../check/step.ts';
import { type Mutant, mutate, readMutants } from './mutants.ts';

type Verdict = 'caught' | 'SURVIVED' | 'BROKEN';

interface Outcome {
  readonly mutant: Mutant;
  readonly verdict: Verdict;
  /** The first test that failed, or why there is no verdict. */
  readonly by: string;
}

/** Milliseconds for a suite: longer than a test may hang, which then fails (test/vitest.config.ts). */
const longest = 420_000;

/** Why the tests of a mutant say nothing of it, by the tests: they are red without it. */
const red = new Map<string, Promise<string | undefined>>();

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { copies: { type: 'string', default: '1' }, places: { type: 'boolean', default: false } },
});

const chosen = readMutants().filter(
  ({ id, list }) => positionals.length === 0 || positionals.includes(id) || positionals.includes(list),
);
for (const mutant of chosen) mutate(readFileSync(join(root, mutant.file), 'utf8'), mutant);
console.log(`${chosen.length} mutants, each at its place`);
if (!values.places) process.exitCode = await runAll(Number(values.copies));

async function runAll(copies: number): Promise<number> {
  const outcomes: Outcome[] = [];
  // Suites that are alike follow one another: what they fetch is fetched.
  const waiting = chosen.toSorted((one, other) => one.suite.localeCompare(other.suite));
  await Promise.all(
    Array.from({ length: copies }, async () => {
      const copy = copyTree();
      try {
        for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
          const begun = performance.now();
          const outcome = await tryOut(copy, mutant);
          const seconds = Math.round((performance.now() - begun) / 1_000);
          outcomes.push(outcome);
          console.log(
            `${outcome.verdict.padEnd(10)} ${mutant.list} ${mutant.id} (${seconds} s): ${outcome.by}`,
          );
        }
      } finally {
        rmSync(copy, { recursive: true, force: true });
      }
    }),
  );
  const count = (verdict: Verdict) => outcomes.filter((outcome) => outcome.verdict === verdict).length;
  console.log(`${count('caught')} caught, ${count('SURVIVED')} survived, ${count('BROKEN')} broken`);
  return count('SURVIVED') + count('BROKEN') === 0 ? 0 : 1;
}

/** What git tracks and what is new, installed. */
function copyTree(): string {
  const copy = mkdtempSync(join(tmpdir(), 'course-exchange-mutants-'));
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
  });
  const present = files
    .toString()
    .split('\0')
    .filter((file) => file && existsSync(join(root, file)));
  execFileSync('cp', ['--parents', '--no-dereference', '--target-directory', copy, ...present], {
    cwd: root,
  });
  execFileSync('git', ['init', '--quiet'], { cwd: copy });
  execFileSync('npx', ['--yes', 'pnpm@12', 'install', '--frozen-lockfile', '--prefer-offline'], {
    cwd: copy,
  });
  return copy;
}

async function redWithout(copy: string, mutant: Mutant): Promise<string | undefined> {
  const { noticed, broken } = await firstFailure(copy, mutant);
  return noticed ?? broken;
}

async function tryOut(copy: string, mutant: Mutant): Promise<Outcome> {
  const tests = [mutant.suite, ...mutant.tests].join(' ');
  if (!red.has(tests)) red.set(tests, redWithout(copy, mutant));
  const already = await red.get(tests);
  if (already) return { mutant, verdict: 'BROKEN', by: `without the mutant: ${already}` };
  const file = join(copy, mutant.file);
  const source = readFileSync(file, 'utf8');
  writeFileSync(file, mutate(source, mutant));
  try {
    const by = await firstFailure(copy, mutant);
    if (by.noticed) return { mutant, verdict: 'caught', by: by.noticed };
    if (by.broken) return { mutant, verdict: 'BROKEN', by: by.broken };
    return { mutant, verdict: 'SURVIVED', by: mutant.property };
  } finally {
    writeFileSync(file, source);
  }
}

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

/** Runs the mutant's suite until its first failure. A suite that runs no test says nothing of the mutant. */
async function firstFailure(
  copy: string,
  mutant: Mutant,
  until = '--bail=1',
): Promise<{ readonly noticed?: string; readonly broken?: string }> {
  const { suite, tests } = mutant;
  const report = join(copy, 'report.json');
  rmSync(report, { force: true });
  const words = ['run', '--config=test/vitest.config.ts', `--project=${suite}`, until, ...tests];
  const reporters = ['--reporter=json', `--outputFile=${report}`];
  const vitest = spawn(
    join(copy, 'node_modules/.bin/node'),
    ['node_modules/vitest/vitest.mjs', ...words, ...reporters],
    { cwd: copy, stdio: 'ignore', timeout: longest },
  );
  const [code] = (await once(vitest, 'close')) as [number | null];
  if (code === null) return { broken: `no end within ${longest / 1_000} s` };
  if (!existsSync(report)) return { broken: `vitest ended with ${code} and no report` };
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report;
  const all = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ fullName, status }) => ({ name: name.slice(copy.length + 1), fullName, status })),
  );
  const failed = all.find(({ status }) => status === 'failed');
  if (failed) return { noticed: `${failed.name}: ${failed.fullName}` };
  const unloaded = testResults.find(
    ({ message, assertionResults }) => message && assertionResults.length === 0,
  );
  if (unloaded)
    return { broken: `${unloaded.name.slice(copy.length + 1)}: ${unloaded.message.split('\n')[0]}` };
  if (all.length === 0) return { broken: 'no test ran' };
  if (code === 0) return {};
  // The failed one of tests beside one another may be written down as skipped.
  return until === '--bail=1'
    ? firstFailure(copy, mutant, '--bail=0')
    : { broken: `vitest ended with ${code} after its tests` };
}
