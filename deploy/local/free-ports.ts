// Chooses free ports at 127.0.0.1 below the range from which the system takes those of outgoing connections.
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

const lowest = 20_000;
const highest = 32_000;
/** By this process: the program that gets a port may not listen yet. */
const chosenBefore = new Set<number>();

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/** One free port for each of `names`, all different and none of `taken`; `wished` ones where they are free. */
export async function choosePorts<Name extends string>(
  names: readonly Name[],
  wished: Readonly<Record<string, number>> = {},
  taken: readonly number[] = [],
): Promise<Record<Name, number>> {
  const chosen = new Map<Name, number>();
  for (const name of names) chosen.set(name, await choosePort(wished[name], [...taken, ...chosen.values()]));
  return Object.fromEntries(chosen) as Record<Name, number>;
}

async function choosePort(wished: number | undefined, taken: readonly number[]): Promise<number> {
  if (wished !== undefined && !taken.includes(wished) && (await isFree(wished))) {
    chosenBefore.add(wished);
    return wished;
  }
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const port = randomInt(lowest, highest);
    if (taken.includes(port) || chosenBefore.has(port)) continue;
    chosenBefore.add(port);
    if (await isFree(port)) return port;
  }
  throw new Error(`No free port was found between ${lowest} and ${highest} at 127.0.0.1.`);
}
