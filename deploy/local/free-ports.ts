// Chooses free ports at 127.0.0.1 below the range from which the system takes those of outgoing connections.
import { randomInt } from 'node:crypto';
import getPort from 'get-port';

const [lowest, highest] = [20_000, 32_000];

/** One free port for each of `names`, all different and none of `taken`; `wished` ones where they are free. */
export async function choosePorts<Name extends string>(
  names: readonly Name[],
  wished: Readonly<Record<string, number>> = {},
  taken: readonly number[] = [],
): Promise<Record<Name, number>> {
  const chosen = new Map<Name, number>();
  for (const name of names) {
    const random = Array.from({ length: 50 }, () => randomInt(lowest, highest));
    const wish = wished[name];
    const port = wish === undefined ? random : [wish, ...random];
    const exclude = [...taken, ...chosen.values()];
    chosen.set(name, await getPort({ host: '127.0.0.1', port, exclude }));
  }
  return Object.fromEntries(chosen) as Record<Name, number>;
}
