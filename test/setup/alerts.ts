// vitest's globalSetup of the alerts' suite: finds Prometheus once and tells the tests where it is.
import { findPrometheus } from '../observability/prometheus-program.ts';

export async function setup(): Promise<void> {
  const programs = await findPrometheus();
  if (!programs)
    throw new Error('No Prometheus and promtool on PATH, and Debian’s package cannot be fetched here.');
  Object.assign(process.env, programs);
}
