// A port that another process has: told as a mistake of the configuration, for that is what it is.
import { ConfigurationError } from './env.ts';

/** Runs `listen`. Throws ConfigurationError that names `setting` when its `port` is taken. */
export async function claimPort<T>(setting: string, port: number, listen: () => Promise<T>): Promise<T> {
  try {
    return await listen();
  } catch (error) {
    // grpc-js tells the code in its message alone.
    if (!(error instanceof Error) || !error.message.includes('EADDRINUSE')) throw error;
    throw new ConfigurationError([`${setting} ${port} is taken: expected a port that nobody listens on`]);
  }
}
