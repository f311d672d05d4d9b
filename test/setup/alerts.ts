// vitest's globalSetup of the alerts' suite: finds Prometheus once and tells the tests where it is.
import { findProgram } from '../support/programs.ts';

export async function setup(): Promise<void> {
  process.env.PROMETHEUS = await findProgram('prometheus');
  process.env.PROMTOOL = await findProgram('promtool');
}
