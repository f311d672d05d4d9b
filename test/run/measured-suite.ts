// Runs a suite of which people want to see more than its count: what it says at once, at its end the figures that it
// printed, and the count as `test` writes it. Words of the command line go to vitest: names of files, a pattern.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Milliseconds after which a suite that hangs is ended; what it started ends with it. */
const longest = 45 * 60_000;

/** Gives the exit code: 0 when all passed. A suite that could not be made ready is one failure. */
export async function runMeasuredSuite(project: string, env: NodeJS.ProcessEnv): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), `course-exchange-${project}-`));
  const report = join(folder, 'report.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const words = ['run', '--config=test/vitest.config.ts', `--project=${project}`, ...reporters];
  try {
    const vitest = ['node_modules/vitest/vitest.mjs', ...words, ...process.argv.slice(2)];
    const suite = spawn(process.execPath, vitest, {
      cwd: root,
      env,
      stdio: ['inherit', 'pipe', 'inherit'],
      timeout: longest,
    });
    process.once('exit', () => suite.kill());
    let said = '';
    suite.stdout.setEncoding('utf8').on('data', (text: string) => {
      process.stdout.write(text);
      said += text;
    });
    const [code] = (await once(suite, 'close')) as [number | null];
    if (suite.killed) console.log(`FAILED ${project}: not over within ${longest / 60_000} minutes`);
    const figures = [...said.matchAll(/figure: (.*)/g)].map(([, figure]) => `  ${figure}`);
    console.log(`\nFigures\n${figures.join('\n')}\n`);
    const { numPassedTests = 0, numFailedTests = 0 } = existsSync(report)
      ? (JSON.parse(readFileSync(report, 'utf8')) as Record<string, number>)
      : {};
    const failed = code === 0 ? numFailedTests : Math.max(1, numFailedTests);
    console.log(`${numPassedTests} passed, ${failed} failed`);
    return failed === 0 ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
