// What is measured: operations, and the servers that carry them out.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Reply } from '../support/load/connection.ts';
import type { Ask } from './load.ts';

/** What a row of the report says of each. A bare server does the same work in one process without any rule. */
export const operations = {
  refresh: 'refresh',
  exchange: 'code exchange, with an ID token',
  events12: '`GET /api/events`, 12 events',
  events2000: '`GET /api/events`, 2,000 events',
  designs500: '`GET …/designs`, 500 designs',
  userinfo: 'user-info',
  discovery: 'discovery',
} as const;

export type Operation = keyof typeof operations;

export interface Work {
  readonly ask: Ask;
  /** Makes what the next `count` requests consume; what needs it is measured by count, not by time. */
  readonly supply?: (count: number) => Promise<void>;
  /** After a failure: gives the lane what its next request consumes. */
  readonly renew?: (lane: number) => Promise<void>;
}

export interface Subject {
  readonly name: string;
  /** Its server processes by name, without stores. */
  readonly processes: Readonly<Record<string, number>>;
  /** Undefined where it does not have the operation. */
  readonly prepare: (operation: Operation, lanes: number) => Promise<Work | undefined>;
  readonly stop: () => Promise<void>;
}

/** Sends the form of a refresh; gives the status and, at 200, the body. */
type SendRefresh = (lane: number, refreshToken: string) => Promise<Reply>;

/** Refreshes, each lane with the newest token of its own family. `kept` outlives the work. */
export async function refreshing(
  kept: string[],
  lanes: number,
  make: (count: number) => Promise<readonly string[]>,
  send: SendRefresh,
): Promise<Work> {
  if (kept.length < lanes) kept.push(...(await make(lanes - kept.length)));
  return {
    ask: async (lane) => {
      const { status, body } = await send(lane, kept[lane] ?? '');
      if (status === 200) kept[lane] = String(JSON.parse(body.toString()).refresh_token);
      return status;
    },
    renew: async (lane) => {
      kept[lane] = (await make(1))[0] ?? '';
    },
  };
}

/** Exchanges codes, which `make` makes before each burst. */
export function exchanging(
  make: (count: number) => Promise<readonly string[]>,
  send: (lane: number, code: string) => Promise<Reply>,
): Work {
  const codes: string[] = [];
  return {
    supply: async (count) => {
      codes.push(...(await make(count)));
    },
    ask: async (lane) => (await send(lane, codes.pop() ?? '')).status,
  };
}

/** Runs `make` `count` times, eight at once. What fails is tried again: the machine may be busy with other things. */
export async function several<T>(count: number, make: (lane: number) => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  let left = count;
  await Promise.all(
    Array.from({ length: Math.min(8, count) }, async (_, lane) => {
      while (left-- > 0) made.push(await patiently(() => make(lane)));
    }),
  );
  return made;
}

const maxTries = 5;

async function patiently<T>(make: () => Promise<T>, tries = maxTries): Promise<T> {
  try {
    return await make();
  } catch (error) {
    if (tries === 1) throw error;
    await sleep(500);
    return patiently(make, tries - 1);
  }
}
