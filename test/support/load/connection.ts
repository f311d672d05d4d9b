// Kept connections of a load generator, each of which asks one thing at a time.
import { Agent, request } from 'node:http';

export interface Request {
  readonly path: string;
  readonly authorization?: string | undefined;
  /** Sent by POST; without it the request is a GET. */
  readonly form?: Readonly<Record<string, string>>;
}

export interface Reply {
  readonly status: number;
  /** Seconds; 0 where the answer names none. */
  readonly retryAfter: number;
  readonly body: Buffer;
}

/** Each lane has its own connection, opened by its first request. */
export function connectionsTo(origin: string, timeout = 10_000) {
  const agents = new Map<number, Agent>();
  return {
    /** Rejects when no answer comes in time. */
    ask: (lane: number, { path, authorization, form }: Request): Promise<Reply> =>
      new Promise((resolve, reject) => {
        const agent = agents.get(lane) ?? new Agent({ keepAlive: true, maxSockets: 1 });
        agents.set(lane, agent);
        const body = form && new URLSearchParams(form).toString();
        const headers = {
          ...(authorization && { authorization }),
          ...(body && { 'content-type': 'application/x-www-form-urlencoded', 'content-length': body.length }),
        };
        const options = { agent, timeout, headers, method: body ? 'POST' : 'GET' };
        const asked = request(`${origin}${path}`, options, (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const retryAfter = Number(response.headers['retry-after'] ?? 0);
            resolve({ status: response.statusCode ?? 0, retryAfter, body: Buffer.concat(chunks) });
          });
        });
        asked.on('timeout', () => asked.destroy(new Error('no answer in time')));
        asked.on('error', reject);
        asked.end(body);
      }),
    close: (): void => {
      for (const agent of agents.values()) agent.destroy();
    },
  };
}
