// Chooses free ports at 127.0.0.1 below the range from which the system takes those of outgoing connections.
import { randomInt } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import getPort from 'get-port';
import { cacheDirectory } from './run-directory.ts';

const [lowest, highest] = [20_000, 32_000];
/** A file for each port that a process of this user has chosen and may not listen at yet. */
const claims = join(cacheDirectory(), 'ports');
/** A stack listens at all its ports by then. */
const claimMs = 120_000;

/** One free port for each of `names`, all different and none of `taken`; `wished` ones where they are free. */
export async function choosePorts<Name extends string>(
  names: readonly Name[],
  wished: Readonly<Record<string, number>> = {},
  taken: readonly number[] = [],
): Promise<Record<Name, number>> {
  dropOldClaims();
  const exclude = [...taken];
  const chosen: Partial<Record<Name, number>> = {};
  for (const name of names) {
    const wish = wished[name];
    const random = Array.from({ length: 50 }, () => randomInt(lowest, highest));
    const port = wish === undefined ? random : [wish, ...random];
    let free: number;
    do {
      free = await getPort({ host: '127.0.0.1', port, exclude });
      exclude.push(free);
    } while (free !== wish && !claim(free));
    chosen[name] = free;
  }
  return chosen as Record<Name, number>;
}

/** False while another process has chosen `port`: stacks that start at once would choose the same before either listens. */
function claim(port: number): boolean {
  try {
    closeSync(openSync(join(claims, String(port)), 'wx'));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function dropOldClaims(): void {
  mkdirSync(claims, { recursive: true });
  for (const file of readdirSync(claims)) {
    const path = join(claims, file);
    const claimedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (claimedAt < Date.now() - claimMs) rmSync(path, { force: true });
  }
}
