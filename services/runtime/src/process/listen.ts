// Listening: a taken port is a configuration mistake; a Unix socket is private.
import { lstatSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { ConfigurationError } from './settings.ts';

/** Throws ConfigurationError that names `setting` when its `port` is taken. */
export async function listenOrFail<T>(setting: string, port: number, listen: () => Promise<T>): Promise<T> {
  try {
    return await listen();
  } catch (error) {
    // grpc-js gives the code only in its message.
    if (!(error instanceof Error) || !error.message.includes('EADDRINUSE')) throw error;
    throw new ConfigurationError([`${setting} ${port} is taken: expected a free port`]);
  }
}

const writableByOthers = 0o022;
const sticky = 0o1000;

/** Reasons why the socket would not be private. Quotes no value. */
export function socketProblems(setting: string, path: string): readonly string[] {
  const directory = statSync(dirname(path), { throwIfNoEntry: false });
  if (directory === undefined || !directory.isDirectory() || isOpen(directory))
    return [`${setting} is not valid: expected a path in a directory that no other account may change`];
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found === undefined || found.isSocket()
    ? []
    : [`${setting} is not valid: expected a path where nothing or a socket is`];
}

/** Such an account could replace the socket, unless the directory is sticky. */
function isOpen({ mode, uid }: Stats): boolean {
  const trusted = uid === 0 || uid === process.getuid?.();
  return !trusted || ((mode & writableByOthers) !== 0 && (mode & sticky) === 0);
}

let earlier: Promise<unknown> = Promise.resolve();

/** The socket has mode 0600 from the start. One at a time: the umask is the process's. */
export function ownerOnly<T>(bind: () => Promise<T>): Promise<T> {
  const bound = earlier.then(async () => {
    const mask = process.umask(0o177);
    try {
      return await bind();
    } finally {
      process.umask(mask);
    }
  });
  earlier = bound.catch(() => {});
  return bound;
}
