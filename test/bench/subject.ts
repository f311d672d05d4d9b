// What is measured: operations, and the servers that carry them out.
import { connectionsTo, type Request } from '../support/load.ts';

/** What a row of the report says of each. */
export const operations = {
  refresh: 'refresh',
  exchange: 'code exchange, with an ID token',
  events12: '`GET /api/events`, 12 events',
  events2000: '`GET /api/events`, 2,000 events',
  designs500: '`GET …/designs`, 500 designs',
} as const;

export type Operation = keyof typeof operations;

export interface Subject {
  readonly name: string;
  readonly origin: string;
  /** Its server processes, without stores. */
  readonly pids: readonly number[];
  readonly make: (grant: 'refresh' | 'exchange', count: number) => Promise<readonly string[]>;
  /** The request of each operation that it has, with the refresh token or code that the request consumes. */
  readonly requests: (secret: string) => Readonly<Partial<Record<Operation, Request>>>;
  readonly stop: () => Promise<unknown>;
}

export type Work = Awaited<ReturnType<typeof workOf>>;

/** An operation, asked on `lanes` lanes. Each lane refreshes its newest token. */
export async function workOf({ origin, make, requests }: Subject, operation: Operation, lanes: number) {
  const secrets = operation === 'refresh' ? [...(await make(operation, lanes))] : [];
  // Most of an overload's wait while the capacity is measured.
  const connections = connectionsTo(origin, 60_000);
  return {
    /** One request on `lane`, which nobody else uses meanwhile; gives the status of its answer. */
    ask: async (lane: number): Promise<number> => {
      const secret = (operation === 'exchange' ? secrets.pop() : secrets[lane]) ?? '';
      const { status, json } = await connections.ask(lane, requests(secret)[operation] as Request);
      if (operation === 'refresh' && status === 200) secrets[lane] = `${json().refresh_token}`;
      return status;
    },
    supply: async (count: number): Promise<void> => {
      if (operation === 'exchange') secrets.push(...(await make(operation, count)));
    },
  };
}
