// Partners that refresh all at once, each over its own connection, and what became of their tokens: a refused one is
// sent again after Retry-After, as the partner guide says; `invalid_grant` after that means that it was lost.
import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { basic } from '../flow.ts';
import type { Partner } from '../stack-file.ts';
import { connectionsTo, type Reply } from './connection.ts';

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

export interface BurstReport {
  /** Partners that got their tokens. */
  readonly refreshed: number;
  readonly refusals: number;
  /** Refused, and then `invalid_grant`. */
  readonly lost: number;
  /** Any other answer, by status and code, or why there was none. */
  readonly unexpected: Readonly<Record<string, number>>;
}

/** Longer than the service needs for any answer, on a slow machine too. */
const timeoutMs = 30_000;

/** Each partner asks until it has its tokens, and waits longer after each refusal. */
export async function refreshAtOnce(options: BurstOptions): Promise<BurstReport> {
  const { tokenEndpoint, partner, tokens, forMs } = options;
  const { origin, pathname: path } = new URL(tokenEndpoint);
  const { authorization } = basic(partner);
  const { ask, close } = connectionsTo(origin, timeoutMs);
  const counts = { refreshed: 0, refusals: 0, lost: 0 };
  const unexpected: Record<string, number> = {};

  async function live(lane: number, refresh_token: string, end: number): Promise<void> {
    const form = { grant_type: 'refresh_token', refresh_token };
    for (let refusals = 0; performance.now() < end; refusals += 1) {
      const [what, retryAfter] = await ask(lane, { path, authorization, form }).then(
        told,
        (error) => [String(error), 0] as const,
      );
      if (what === '503 temporarily_unavailable') {
        counts.refusals += 1;
        await sleep(retryAfter * (refusals + 1) * 1_000);
        continue;
      }
      if (what === '200') counts.refreshed += 1;
      else if (refusals > 0 && what === '400 invalid_grant') counts.lost += 1;
      else unexpected[what] = (unexpected[what] ?? 0) + 1;
      return;
    }
  }

  const connecting = tokens.keys();
  const connect = async () => {
    for (const lane of connecting) await ask(lane, { path: '/.well-known/openid-configuration' });
  };
  await Promise.all(Array.from({ length: 16 }, connect));
  options.onConnected();
  const end = performance.now() + forMs;
  await Promise.all(tokens.map((token, lane) => live(lane, token, end)));
  close();
  return { ...counts, unexpected };
}

/** Status and code, and the seconds of Retry-After. */
function told({ status, retryAfter, body }: Reply): readonly [what: string, retryAfter: number] {
  const { error } = JSON.parse(body.toString()) as { readonly error?: string };
  return [error === undefined ? String(status) : `${status} ${error}`, retryAfter];
}
