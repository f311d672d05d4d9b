// Many who read lists of 2,000 Events at once: what is too much is refused, and the rest are served as fast as a few would be.
// No time is asserted, only the ratio of two alternating loads, and the best of at most six rounds: other work on the
// machine does not fail it. Each list would be begun without admission and all miss their time: none would be answered.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { median } from '../bench/load.ts';
import { openCaller } from '../support/flow.ts';
import { retryAfterMs } from '../support/http.ts';
import { connectionsTo } from '../support/load.ts';
import { type System, startSystem } from '../support/system.ts';

let system: System;
let accessToken: string;
const forMs = 2_500;
beforeAll(async () => {
  system = await startSystem();
  const caller = await openCaller(system.stack, '2,000 events');
  accessToken = (await caller.newTokens()).access_token;
});
afterAll(() => system?.stop());

/**
 * Readers of a long list, each on its connection: lists in a second that came in time, milliseconds of each list and of each
 * refusal, and other answers by status (0: none came).
 */
async function read(readers: number) {
  const { ask, close } = connectionsTo(system.stack.issuer);
  const request = { path: '/api/events', authorization: `Bearer ${accessToken}` };
  const [listMs, refusalMs]: [number[], number[]] = [[], []];
  const unexpected: Record<number, number> = {};
  const end = performance.now() + forMs;
  const keepReading = async (lane: number) => {
    while (performance.now() < end) {
      const begun = performance.now();
      const answer = await ask(lane, request).catch(() => ({ status: 0, headers: {} }));
      const { status } = answer;
      const tookMs = performance.now() - begun;
      if (status === 503) refusalMs.push(tookMs);
      else if (status !== 200) unexpected[status] = (unexpected[status] ?? 0) + 1;
      else if (begun + tookMs <= end) listMs.push(tookMs);
      const left = Math.max(0, end - performance.now());
      await sleep(Math.min(retryAfterMs(answer), left));
    }
  };
  await Promise.all(Array.from({ length: readers }, (_, lane) => keepReading(lane)));
  close();
  return { perSecond: (listMs.length * 1_000) / forMs, listMs, refusalMs, unexpected };
}

/** 0 where nothing was measured. */
const ratio = (one: number, other: number): number => (one > 0 && other > 0 ? one / other : 0);

test('lists for 96 readers, and for 320, come at least half as fast as for 8, and refusals at once [R14.7]', async () => {
  await read(8);
  const best = { many: 0, tooMany: 0, refusals: 0 };
  // 80 % and more where nothing else runs.
  const isShown = () => best.many > 0.5 && best.tooMany > 0.5 && best.refusals > 3;
  for (let round = 0; round < 6 && !isShown(); round += 1) {
    const [few, many, tooMany] = [await read(8), await read(96), await read(320)];
    expect([few, many, tooMany].map(({ unexpected }) => unexpected)).toEqual([{}, {}, {}]);
    best.many = Math.max(best.many, ratio(many.perSecond, few.perSecond));
    best.tooMany = Math.max(best.tooMany, ratio(tooMany.perSecond, few.perSecond));
    best.refusals = Math.max(best.refusals, ratio(median(tooMany.listMs), median(tooMany.refusalMs)));
  }
  console.log('figure: lists for many readers, of what 8 get', best);
  expect(best).toSatisfy(isShown);
});
