// Kept connections of a load generator, each of which asks one thing at a time.
import { Agent } from 'node:http';
import { type Answer, type Fields, send } from '../http.ts';

export interface Request {
  readonly path: string;
  readonly authorization?: string | undefined;
  /** Sent by POST; without it the request is a GET. */
  readonly form?: Fields;
}

/** Each lane has its own connection, opened by its first request. */
export function connectionsTo(origin: string, timeoutMs = 10_000) {
  const agents = new Map<number, Agent>();
  const agentOf = (lane: number) =>
    agents.getOrInsertComputed(lane, () => new Agent({ keepAlive: true, maxSockets: 1 }));
  return {
    /** Rejects when no answer comes in time. */
    ask: (lane: number, { path, authorization, ...form }: Request): Promise<Answer> =>
      send(`${origin}${path}`, {
        ...{ agent: agentOf(lane), timeoutMs, ...form },
        headers: authorization === undefined ? {} : { authorization },
      }),
    close: (): void => {
      for (const agent of agents.values()) agent.destroy();
    },
  };
}
