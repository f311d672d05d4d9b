// Whose refusals are recorded when there are too many (R34.3).
import { createLogger } from '@course-exchange/runtime/process/logger';
import { expect, test } from 'vitest';
import { createRefusalQueue } from './records.ts';

const logger = createLogger('identity', 'error', () => {});

test('who only names a client takes no record of networks that have shown its secret', async () => {
  let now = 0;
  const kept = new Map<string, number>();
  const { record, learnNetwork, flush } = createRefusalQueue({
    write: async (records) => {
      for (const { requestId } of records) kept.set(requestId, (kept.get(requestId) ?? 0) + 1);
    },
    now: () => now,
    logger,
  });
  const claim = (requestId: string, count: number, networkOf: (n: number) => string) => {
    for (let n = 0; n < count; n += 1)
      record({
        ...{
          requestId,
          endpoint: 'token',
          code: 'invalid_client',
          reason: 'wrong_secret',
        },
        ...{ clientId: 'one', claimedClientId: undefined, clientAuthenticated: false, network: networkOf(n) },
        ...{ user: undefined, family: undefined, earlier: undefined },
      });
  };
  const counts = async () => {
    await flush();
    return Object.fromEntries(kept);
  };
  const apart = (n: number) => `10.0.${n}.0/24`;
  const [own, ofAnother] = ['198.51.100.0/24', '203.0.113.0/24'];
  learnNetwork('one', own);
  learnNetwork('two', ofAnother);
  claim('flood', 1_000, () => '192.0.2.0/24');
  claim('many', 2_000, (n) => apart(n % 500));
  claim('partner', 1, () => own);
  claim('of another', 3, () => ofAnother);
  expect(await counts()).toEqual({ flood: 25, many: 500 + 76, partner: 1, 'of another': 1 });
  claim('partner', 1_000, () => own);
  expect(await counts()).toMatchObject({ partner: 100 });

  // Of 17 networks the longest unused is forgotten.
  for (let n = 0; n < 15; n += 1) learnNetwork('one', apart(n));
  learnNetwork('one', own);
  learnNetwork('one', ofAnother);
  now = 60_000;
  kept.clear();
  claim('many', 2_000, (n) => `10.1.${n % 1_000}.0/24`);
  claim('forgotten', 1, () => apart(0));
  claim('partner', 1, () => own);
  expect(await counts()).toEqual({ many: 1_000 + 100, partner: 1 });
});
