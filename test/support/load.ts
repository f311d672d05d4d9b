// Loads: kept connections, each of which asks one thing at a time, and families and codes for them.
import { createHash, randomBytes } from 'node:crypto';
import { Agent } from 'node:http';
import { Redis } from 'ioredis';
import { type Answer, type Fields, send } from './http.ts';

export interface Request {
  readonly path: string;
  readonly authorization?: string | undefined;
  /** Sent by POST; without it the request is a GET. */
  readonly form?: Fields;
}

/** Each lane has its own connection, opened by its first request. */
export function connectionsTo(origin: string, timeoutMs = 10_000) {
  const agents = new Map<number, Agent>();
  const agentOf = (lane: number) => {
    const agent = agents.get(lane) ?? new Agent({ keepAlive: true, maxSockets: 1 });
    agents.set(lane, agent);
    return agent;
  };
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

/** `count` more families like that of `token`, or codes like it, straight into Redis. */
export async function cloneFamilies(
  redisUrl: string,
  token: string,
  count: number,
  kind: 'rt' | 'code' = 'rt',
) {
  const redis = new Redis(redisUrl);
  const fields = await redis.hgetall(`${kind}:{${token.slice(0, 22)}}`);
  const write = redis.pipeline();
  const tokens = Array.from({ length: count }, () => {
    const [family, secret] = [randomBytes(16).toString('base64url'), randomBytes(32).toString('base64url')];
    const key = `${kind}:{${family}}`;
    write.hset(key, { ...fields, hash: createHash('sha256').update(secret).digest('base64url') });
    write.expire(key, 3_600);
    return `${family}${secret}`;
  });
  await write.exec();
  redis.disconnect();
  return tokens;
}
