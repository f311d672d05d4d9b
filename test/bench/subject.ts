// What is measured: operations, and the servers that carry them out.
import { connectionsTo, type Request } from '../support/load/connection.ts';
import type { Ask } from './load.ts';

/** What a row of the report says of each. */
export const operations = {
  refresh: 'refresh',
  exchange: 'code exchange, with an ID token',
  events12: '`GET /api/events`, 12 events',
  events2000: '`GET /api/events`, 2,000 events',
  designs500: '`GET …/designs`, 500 designs',
} as const;

export type Operation = keyof typeof operations;
/** What consumes a refresh token or a code. */
type Grant = 'refresh' | 'exchange';

export interface Subject {
  readonly name: string;
  readonly origin: string;
  /** Its server processes by name, without stores. */
  readonly processes: Readonly<Record<string, number>>;
  /** Makes so many refresh tokens, or codes. */
  readonly make: (grant: Grant, count: number) => Promise<readonly string[]>;
  /** With the refresh token or code that it consumes. Undefined where the server does not have the operation. */
  readonly request: (operation: Operation, secret: string) => Request | undefined;
  readonly stop: () => Promise<unknown>;
}

export interface Work {
  readonly ask: Ask;
  /** Makes what the next `count` requests consume; what needs it is measured by count, not by time. */
  readonly supply?: (count: number) => Promise<void>;
  /** After a failure: gives the lane what its next request consumes. */
  readonly renew?: (lane: number) => Promise<void>;
}

/** Refreshes go on with the newest token of each lane. */
export async function workOf(
  { origin, make, request }: Subject,
  operation: Operation,
  lanes: number,
): Promise<Work | undefined> {
  if (request(operation, '') === undefined) return undefined;
  // Most of an overload's wait while the capacity is measured.
  const connections = connectionsTo(origin, 60_000);
  const ask = (lane: number, secret = '') => connections.ask(lane, request(operation, secret) as Request);
  if (operation === 'exchange') {
    const codes: string[] = [];
    return {
      supply: async (count) => void codes.push(...(await make(operation, count))),
      ask: async (lane) => (await ask(lane, codes.pop())).status,
    };
  }
  if (operation !== 'refresh') return { ask: async (lane) => (await ask(lane)).status };
  const current = [...(await make(operation, lanes))];
  return {
    ask: async (lane) => {
      const { status, json } = await ask(lane, current[lane]);
      if (status === 200) current[lane] = `${json().refresh_token}`;
      return status;
    },
    renew: async (lane) => {
      current[lane] = (await make(operation, 1))[0] ?? '';
    },
  };
}
