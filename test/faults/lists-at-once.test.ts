// Many who read lists of 2,000 Events at once: what is too much is refused, and the rest are served as fast as a few would be.
// No time is asserted, only the ratio of two loads that take turns, and the best of at most six rounds: other work on the
// machine does not fail it. Without admission each list is begun and all miss their time: none is answered.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { median } from '../bench/load.ts';
import { openCaller } from '../support/flow.ts';
import { type ReadReport, readLists } from '../support/load.ts';
import { type System, startSystem } from '../support/system.ts';

let system: System;
let accessToken: string;
beforeAll(async () => {
  system = await startSystem();
  const caller = await openCaller(system.stack, '2,000 events');
  accessToken = (await caller.newTokens()).access_token;
}, 120_000);
afterAll(() => system?.stop());

const read = (readers: number): Promise<ReadReport> =>
  readLists(system.stack.issuer, accessToken, readers, 2_500);

/** 0 where nothing was measured. */
const ratio = (one: number, other: number): number => (one > 0 && other > 0 ? one / other : 0);

test('lists for 96 readers, and for 320, come at least half as fast as for 8, and refusals at once [R14.7]', async () => {
  await read(8);
  const best = { many: 0, tooMany: 0, refusals: 0 };
  // 80 % and more where nothing else runs: bench states it.
  const isShown = () => best.many > 0.5 && best.tooMany > 0.5 && best.refusals > 3;
  for (let round = 0; round < 6 && !isShown(); round += 1) {
    const [few, many, tooMany] = [await read(8), await read(96), await read(320)];
    expect([few, many, tooMany].map(({ unexpected }) => unexpected)).toEqual([{}, {}, {}]);
    best.many = Math.max(best.many, ratio(many.perSecond, few.perSecond));
    best.tooMany = Math.max(best.tooMany, ratio(tooMany.perSecond, few.perSecond));
    best.refusals = Math.max(best.refusals, ratio(median(tooMany.listMs), median(tooMany.refusalMs)));
  }
  expect(best).toSatisfy(isShown);
});
