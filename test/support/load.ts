// Loads: kept connections, each of which asks one thing at a time; readers of a long list; partners that refresh at once.
import { createHash, randomBytes } from 'node:crypto';
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { basic } from './flow.ts';
import { type Answer, type Fields, retryAfterMs, send } from './http.ts';
import { ownStopwatch } from './own-time.ts';
import type { Partner } from './stack-file.ts';

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

const none = { status: 0, headers: {} };

export type ReadReport = Awaited<ReturnType<typeof readLists>>;

/**
 * Readers of a long list, each on its connection, for `forMs` milliseconds: lists in a second that came in time, milliseconds
 * of each list and of each refusal, and other answers by status (0: none came).
 */
export async function readLists(issuer: string, accessToken: string, readers: number, forMs: number) {
  const { ask, close } = connectionsTo(issuer);
  const request = { path: '/api/events', authorization: `Bearer ${accessToken}` };
  const [listMs, refusalMs]: [number[], number[]] = [[], []];
  const unexpected: Record<number, number> = {};
  const end = performance.now() + forMs;
  const read = async (lane: number) => {
    while (performance.now() < end) {
      const begun = performance.now();
      const answer = await ask(lane, request).catch(() => none);
      const { status } = answer;
      const tookMs = performance.now() - begun;
      if (status === 503) refusalMs.push(tookMs);
      else if (status !== 200) unexpected[status] = (unexpected[status] ?? 0) + 1;
      else if (begun + tookMs <= end) listMs.push(tookMs);
      const left = Math.max(0, end - performance.now());
      await sleep(Math.min(retryAfterMs(answer), left));
    }
  };
  await Promise.all(Array.from({ length: readers }, (_, lane) => read(lane)));
  close();
  return { perSecond: (listMs.length * 1_000) / forMs, listMs, refusalMs, unexpected };
}

/** `count` more families like that of `token`, straight into Redis. */
export async function cloneFamilies(redisUrl: string, token: string, count: number): Promise<string[]> {
  const redis = new Redis(redisUrl);
  const fields = await redis.hgetall(`rt:{${token.slice(0, 22)}}`);
  const write = redis.pipeline();
  const tokens = Array.from({ length: count }, () => {
    const [family, secret] = [randomBytes(16).toString('base64url'), randomBytes(32).toString('base64url')];
    const key = `rt:{${family}}`;
    write.hset(key, { ...fields, hash: createHash('sha256').update(secret).digest('base64url') });
    write.expire(key, 3_600);
    return `${family}${secret}`;
  });
  await write.exec();
  redis.disconnect();
  return tokens;
}

/** Longer than the service needs for any answer, on a slow machine too; and of own time, until no refresh is begun any more. */
const [timeoutMs, forMs] = [30_000, 270_000];
const had = ownStopwatch();

/** When it was asked for and came, on the clock of `performance.now()`. */
export interface Refusal {
  readonly from: number;
  readonly to: number;
}

/**
 * Each partner asks until it has its tokens, and waits longer after each refusal. Rejects where no answer comes. Every partner
 * has its connection, and none has refreshed, when `onConnected` is called.
 */
export async function refreshAtOnce(
  tokenEndpoint: string,
  partner: Partner,
  tokens: readonly string[],
  onConnected: () => void,
) {
  const { origin, pathname: path } = new URL(tokenEndpoint);
  const { authorization } = basic(partner);
  const { ask, close } = connectionsTo(origin, timeoutMs);
  /**
   * Partners that got their tokens; refusals; of each who then got `invalid_grant` the times of the refusals; any other
   * answer, by its text.
   */
  const report = {
    refreshed: 0,
    refusals: 0,
    lost: [] as (readonly Refusal[])[],
    unexpected: {} as Record<string, number>,
  };

  const settle = ({ status, text }: Answer, refusals: readonly Refusal[]) => {
    if (status === 200) report.refreshed += 1;
    else if (refusals.length > 0 && text.includes('"invalid_grant"')) report.lost.push(refusals);
    else report.unexpected[text] = (report.unexpected[text] ?? 0) + 1;
  };

  async function live(lane: number, refresh_token: string, end: number): Promise<void> {
    const form = { grant_type: 'refresh_token', refresh_token };
    const refusals: Refusal[] = [];
    while (had() < end) {
      const from = performance.now();
      const answer = await ask(lane, { path, authorization, form });
      const isRefused = answer.status === 503 && answer.text.includes('"temporarily_unavailable"');
      if (!isRefused) return settle(answer, refusals);
      report.refusals += 1;
      refusals.push({ from, to: performance.now() });
      await sleep(retryAfterMs(answer) * refusals.length);
    }
  }

  const connecting = tokens.keys();
  const connect = async () => {
    for (const lane of connecting) await ask(lane, { path: '/.well-known/openid-configuration' });
  };
  await Promise.all(Array.from({ length: 16 }, connect));
  onConnected();
  const end = had() + forMs;
  await Promise.all(tokens.map((token, lane) => live(lane, token, end)));
  close();
  return report;
}
