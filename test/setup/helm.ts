// vitest's globalSetup of suites that render the chart: finds Helm once and tells the tests where it is.
import { findProgram } from '../support/programs.ts';

export async function setup(): Promise<void> {
  process.env.HELM = await findProgram('helm').catch(({ message }: Error) => {
    console.log(message);
    return '';
  });
}
