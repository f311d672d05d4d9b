// Visitors who never log in: however many there are, they use no memory of Redis and delay no one else.
import { Redis } from 'ioredis';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { authorizeUrl, logIn, openCaller } from '../support/flow.ts';
import { sendUntilServed } from '../support/http.ts';
import { runningStack } from '../support/stack-file.ts';
import { openUserAgent } from '../support/user-agent.ts';

const stack = runningStack();
/** A network for this test alone: its failed logins count for no other test (R30.7). */
const from = process.platform === 'linux' ? '127.0.78.9' : undefined;
const redis = new Redis(stack.redis ?? '');
afterAll(() => redis.disconnect());

/** As long as the bounds of R3.6 and R3.7 permit: stored, each request would take 5 KB and more. */
const longest = {
  state: 's'.repeat(2_048),
  nonce: 'n'.repeat(2_048),
  login_hint: `${'h'.repeat(242)}@example.org`,
};

/** Leaves Redis 2 MB until the test ends. */
async function fillRedis(): Promise<void> {
  const [, before = '0'] = (await redis.config('GET', 'maxmemory')) as string[];
  onTestFinished(async () => {
    await redis.config('SET', 'maxmemory', before);
  });
  const used = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
  await redis.config('SET', 'maxmemory', used + 2 * 1024 * 1024);
}

/** Sends `total` requests, eight at a time; how many were answered with 200. */
async function flood(total: number, request: (nth: number) => Promise<{ status: number }>): Promise<number> {
  let [begun, served] = [0, 0];
  const lane = async (): Promise<void> => {
    while (begun < total) if ((await request(begun++)).status === 200) served += 1;
  };
  await Promise.all(Array.from({ length: 8 }, lane));
  return served;
}

test('1,200 authorization requests leave nothing in a Redis that has 2 MB left, and a login goes on [R6.10]', async () => {
  const { discovery, partner, newTokens, refresh } = await openCaller(stack, 'no designs');
  const before = new Set(await redis.keys('*'));
  await fillRedis();
  const address = authorizeUrl(discovery.authorization_endpoint, partner, longest);
  const body = address.split('?')[1] ?? '';
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const served = await flood(1_200, (nth) =>
    nth % 2 === 0
      ? sendUntilServed(address)
      : sendUntilServed(discovery.authorization_endpoint, { body, headers }),
  );
  expect(served).toBe(1_200);
  const stranger = openUserAgent(stack.issuer, { from });
  const page = await stranger.visit(address);
  if (page.kind !== 'page') throw new Error(`no page: ${page.location}`);
  await logIn(stranger, page, { email: 'nobody@example.org', password: 'x'.repeat(500) });
  const left = (await redis.keys('*')).filter((key) => !before.has(key));
  // The counters that R6.10 permits, and the probe of /healthz.
  for (const key of left) expect(key).toMatch(/^(login-|health:)/);
  expect((await refresh((await newTokens()).refresh_token)).status).toBe(200);
});
