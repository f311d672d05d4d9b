// Runs one suite in a vitest process of its own and reads what came of each test.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
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

/** Runs the suite, printing as it goes. `scratch` is a directory that the caller deletes. */
export async function runSuite(
  root: string,
  suite: SuiteName,
  scratch: string,
  stop: AbortSignal,
): Promise<SuiteResult> {
  const report = join(scratch, `${suite}.json`);
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const code = await runProgram(
    root,
    [vitest, 'run', '--config=test/vitest.config.ts', `--project=${suite}`, ...reporters],
    stop,
  );
  if (!existsSync(report)) return { tests: [], problems: [`${suite}: no result, vitest ended with ${code}`] };
  const result = readReport(suite, JSON.parse(readFileSync(report, 'utf8')) as Report);
  if (result.tests.length === 0)
    return { tests: [], problems: [...result.problems, `${suite}: no test ran`] };
  const silent =
    code !== 0 && result.problems.length === 0 && !result.tests.some((test) => test.status === 'failed');
  return silent ? { ...result, problems: [`${suite}: vitest ended with ${code} after its tests`] } : result;
}

/** Milliseconds after which a suite that hangs is ended; stacks and stores end with it. */
const longest = 8 * 60_000;

/** Runs a program of ours under this Node, on this terminal, until it ends or `stop` aborts; gives its exit code. */
export function runProgram(root: string, args: readonly string[], stop: AbortSignal): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
      signal: stop,
      timeout: longest,
    });
    child.on('error', () => resolve(130));
    child.on('exit', (code) => resolve(code ?? 130));
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
