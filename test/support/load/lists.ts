// Readers of a long list, each over its own connection: they read it again and again, and wait as long as a refusal says.
import { setTimeout as sleep } from 'node:timers/promises';
import { retryAfterMs } from '../http.ts';
import { connectionsTo } from './connection.ts';

export interface ReadOptions {
  readonly issuer: string;
  readonly accessToken: string;
  readonly readers: number;
  readonly forMs: number;
}

export interface ReadReport {
  /** Lists that came in time, in a second. */
  readonly perSecond: number;
  /** Milliseconds that each list took, and each refusal. */
  readonly listMs: readonly number[];
  readonly refusalMs: readonly number[];
  /** Any other answer, by status; 0: none came. */
  readonly unexpected: Readonly<Record<number, number>>;
}

const none = { status: 0, headers: {} };

export async function readLists({ issuer, accessToken, readers, forMs }: ReadOptions): Promise<ReadReport> {
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
