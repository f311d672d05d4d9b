// Gathers the parts of a stream into batches, bounded in size and time, so that an Event is recounted once for many
// changes.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChangeBatch, DesignChange } from './change.ts';

export interface BatchLimits {
  /** A batch ends at this number of changes … */
  readonly changes: number;
  /** … or of characters … */
  readonly characters: number;
  /** … or this long after its first change. */
  readonly waitMs: number;
}

interface Gathered {
  source: string;
  changes: DesignChange[];
  characters: number;
  readonly due: Promise<undefined>;
  readonly discard: () => void;
}

/** Takes nothing from `parts` while a batch is processed. A failure of `parts` drops the unfinished batch. */
export async function* changeBatches(
  parts: AsyncIterable<ChangeBatch>,
  limits: BatchLimits,
): AsyncGenerator<ChangeBatch> {
  const iterator = parts[Symbol.asyncIterator]();
  let gathered = gather(limits);
  try {
    for (let next = iterator.next(); ; ) {
      const arrived = gathered.changes.length === 0 ? await next : await Promise.race([next, gathered.due]);
      if (arrived?.done) break;
      if (arrived) {
        next = iterator.next();
        // A failure is handled when it is awaited.
        next.catch(() => {});
        add(gathered, arrived.value);
      }
      const last = arrived?.value.last ?? false;
      const full = gathered.changes.length >= limits.changes || gathered.characters >= limits.characters;
      if (arrived && !last && !full) continue;
      yield { source: gathered.source, changes: gathered.changes, last };
      gathered.discard();
      gathered = gather(limits);
    }
    if (gathered.changes.length > 0)
      yield { source: gathered.source, changes: gathered.changes, last: false };
  } finally {
    gathered.discard();
    // Not awaited: it waits for the next part.
    void iterator.return?.();
  }
}

function gather({ waitMs }: BatchLimits): Gathered {
  const discarded = new AbortController();
  let due: Promise<undefined> | undefined;
  return {
    source: '',
    changes: [],
    characters: 0,
    // Starts with the first change.
    get due() {
      due ??= sleep(waitMs, undefined, { signal: discarded.signal }).catch(() => undefined);
      return due;
    },
    discard: () => discarded.abort(),
  };
}

function add(gathered: Gathered, { source, changes }: ChangeBatch): void {
  gathered.source = source;
  for (const change of changes) {
    gathered.changes.push(change);
    gathered.characters += sizeOf(change);
  }
}

function sizeOf({ id, design }: DesignChange): number {
  const texts: readonly (string | undefined)[] = Object.values(design ?? {});
  return texts.reduce((size, text) => size + (text?.length ?? 0), id.length);
}
