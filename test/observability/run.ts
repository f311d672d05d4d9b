// The command `test:alerts`: Prometheus, then the suite of the rules. Words after the command go to vitest: names of test
// files. Exit codes: 0 all passed, 1 something failed, 2 it cannot run here.
import { runMeasuredSuite } from '../run/measured-suite.ts';
import { scratchHome } from '../run/scratch.ts';
import { findPrometheus } from './prometheus-program.ts';

const programs = await findPrometheus();
if (programs === undefined) {
  console.log(
    'NOT RUN alerts: no Prometheus and promtool on PATH, and Debian’s package cannot be fetched here',
  );
  process.exitCode = 2;
} else {
  const environment = { ...process.env, ...programs, TMPDIR: scratchHome() };
  process.exitCode = await runMeasuredSuite('observability', environment);
}
