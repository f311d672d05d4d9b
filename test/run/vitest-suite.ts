// Runs one suite in a vitest process of its own and reads what came of each test.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { SuiteName } from './suites.ts';

export type TestResult = { readonly name: string; readonly status: 'passed' | 'failed' | 'skipped' };

export type SuiteResult = {
  readonly tests: readonly TestResult[];
  /** Sentences about what went wrong outside a test. */
  readonly problems: readonly string[];
};

type Report = {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
};

export interface Surroundings {
  readonly environment: NodeJS.ProcessEnv;
  readonly stop: AbortSignal;
}

/** Runs the suite and prints what it said. `scratch` is a directory that the caller deletes. */
export async function runSuite(
  root: string,
  suite: SuiteName,
  { scratch, ...surroundings }: Surroundings & { readonly scratch: string },
): Promise<SuiteResult> {
  const report = join(scratch, `${suite}.json`);
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const words = [vitest, 'run', '--config=test/vitest.config.ts', `--project=${suite}`, ...reporters];
  const { code, output } = await runProgram(root, words, surroundings);
  process.stdout.write(`\n━━ ${suite}\n${output}`);
  if (!existsSync(report)) return { tests: [], problems: [`${suite}: no result, vitest ended with ${code}`] };
  const result = readReport(suite, JSON.parse(readFileSync(report, 'utf8')) as Report);
  if (result.tests.length === 0)
    return { tests: [], problems: [...result.problems, `${suite}: no test ran`] };
  const silent =
    code !== 0 && result.problems.length === 0 && !result.tests.some((test) => test.status === 'failed');
  if (!silent) return result;
  return { ...result, problems: [`${suite}: vitest ended with ${code} after its tests${unhandled(output)}`] };
}

/** What vitest says of errors that no test awaited, in one line; nothing where it says none. */
function unhandled(output: string): string {
  const [, said = ''] = stripVTControlCharacters(output).split(/ Unhandled (?!Errors)\w+ ⎯+/);
  const words = said.replaceAll('⎯', '').trim().split(/\s+/).slice(0, 20).join(' ');
  return words && `: ${words}`;
}

/** Milliseconds after which a suite that hangs is ended; stacks and stores end with it. */
const longest = 30 * 60_000;

/** Runs a program of ours under this Node until it ends or `stop` aborts; gives its exit code and what it said. */
export function runProgram(
  root: string,
  words: readonly string[],
  { environment, stop }: Surroundings,
): Promise<{ readonly code: number; readonly output: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, words, {
      cwd: root,
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
      signal: stop,
      timeout: longest,
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    child.once('error', () => resolve({ code: 130, output }));
    child.once('close', (code) => resolve({ code: code ?? 130, output }));
  });
}

function readReport(suite: SuiteName, report: Report): SuiteResult {
  const tests = report.testResults.flatMap((file) =>
    file.assertionResults.map(
      ({ fullName, status }): TestResult => ({ name: fullName, status: statusOf(status) }),
    ),
  );
  const problems = report.testResults
    .filter(
      (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
    )
    .map((file) => `${suite}: ${file.name}: ${file.message.split('\n')[0]}`);
  return { tests, problems };
}

function statusOf(status: string): TestResult['status'] {
  return status === 'passed' || status === 'failed' ? status : 'skipped';
}
