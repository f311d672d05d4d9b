// Partners that refresh all at once, each over its own connection, and what became of their tokens: a refused one is
// sent again after Retry-After, as the partner guide says; `invalid_grant` after that means that it was lost.
import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { basic } from '../flow.ts';
import { type Answer, retryAfterMs } from '../http.ts';
import type { Partner } from '../stack-file.ts';
import { connectionsTo } from './connection.ts';

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

export interface BurstOptions {
  readonly tokenEndpoint: string;
  readonly partner: Partner;
  readonly tokens: readonly string[];
  /** No refresh is begun after so long. */
  readonly forMs: number;
  /** Every partner has its connection, and none has refreshed. */
  readonly onConnected: () => void;
}

/** Longer than the service needs for any answer, on a slow machine too. */
const timeoutMs = 30_000;

/** Each partner asks until it has its tokens, and waits longer after each refusal. Rejects where no answer comes. */
export async function refreshAtOnce(options: BurstOptions) {
  const { origin, pathname: path } = new URL(options.tokenEndpoint);
  const { authorization } = basic(options.partner);
  const { ask, close } = connectionsTo(origin, timeoutMs);
  /** Partners that got their tokens; refusals; those refused who then got `invalid_grant`; any other answer, by its text. */
  const report = { refreshed: 0, refusals: 0, lost: 0, unexpected: {} as Record<string, number> };

  const settle = ({ status, text }: Answer, refusals: number) => {
    if (status === 200) report.refreshed += 1;
    else if (refusals > 0 && text.includes('"invalid_grant"')) report.lost += 1;
    else report.unexpected[text] = (report.unexpected[text] ?? 0) + 1;
  };

  async function live(lane: number, refresh_token: string, end: number): Promise<void> {
    const form = { grant_type: 'refresh_token', refresh_token };
    for (let refusals = 0; performance.now() < end; refusals += 1) {
      const answer = await ask(lane, { path, authorization, form });
      const isRefused = answer.status === 503 && answer.text.includes('"temporarily_unavailable"');
      if (!isRefused) return settle(answer, refusals);
      report.refusals += 1;
      await sleep(retryAfterMs(answer) * (refusals + 1));
    }
  }

  const connecting = options.tokens.keys();
  const connect = async () => {
    for (const lane of connecting) await ask(lane, { path: '/.well-known/openid-configuration' });
  };
  await Promise.all(Array.from({ length: 16 }, connect));
  options.onConnected();
  const end = performance.now() + options.forMs;
  await Promise.all(options.tokens.map((token, lane) => live(lane, token, end)));
  close();
  return report;
}
