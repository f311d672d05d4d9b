// vitest's globalSetup of suites that render the chart: finds Helm once and tells the tests where it is.
import { findHelm, withoutHelm } from '../support/helm-program.ts';

export async function setup(): Promise<void> {
  const helm = await findHelm();
  if (helm === undefined) console.log(withoutHelm);
  process.env.HELM = helm ?? '';
}
