// Names that one process of this account holds at a time, as sockets: the system frees a name when its holder ends,
// whatever ended it.
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Linux: a name outside the file system, which vanishes with its holder. Elsewhere a file. */
export function socketAddress(name: string): string {
  const full = `course-exchange-${process.getuid?.() ?? 0}-${name}`;
  return process.platform === 'linux' ? `\0${full}` : join(tmpdir(), `${full}.sock`);
}

/** False while another process holds `name`; `server` holds it until it is closed. */
export async function holdName(server: Server, name: string): Promise<boolean> {
  const address = socketAddress(name);
  const listen = () =>
    once(server.listen(address), 'listening').then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'EADDRINUSE') return false;
        throw error;
      },
    );
  if (await listen()) return true;
  if (process.platform === 'linux' || (await isHeld(name))) return false;
  rmSync(address, { force: true });
  return listen();
}

export async function isHeld(name: string): Promise<boolean> {
  const socket = connect(socketAddress(name));
  try {
    await once(socket, 'connect');
    return true;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    return !['ECONNREFUSED', 'ENOENT'].includes(code);
  } finally {
    socket.destroy();
  }
}

/** Runs `work` alone: what this machine lacks is fetched and installed by one process at a time. */
export async function whileAlone<T>(work: () => Promise<T>): Promise<T> {
  const holder = createServer();
  while (!(await holdName(holder, 'supplies'))) await sleep(100);
  try {
    return await work();
  } finally {
    holder.close();
  }
}
