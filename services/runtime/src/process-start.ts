// How a process begins: either it serves, or it says what is wrong with its configuration and ends.
import { ConfigurationError } from './env.ts';

/** Runs `main`. A mistake of the configuration is printed, a line for each, and ends the process with code 1. */
export async function startProcess(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}
