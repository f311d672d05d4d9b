// Login: what a failure looks like, and when the next try is not looked at (R30.2). Every test calls from a
// separate network, so that it slows no other.
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { logIn, loginForm } from '../support/flow.ts';
import { openUserAgent } from '../support/user-agent.ts';
import { address, begin, full, grant, issuer, storeTest, typical, userWho } from './deployment.ts';
import { expectPage } from './expectations.ts';
import { throwawayUser } from './throwaway.ts';

const onLoopback = /^https?:\/\/(127\.|localhost)/.test(address) && process.platform === 'linux';
let networks = 0;

/** A loopback address in a separate /24, so that failed logins of one test slow no other; elsewhere, none. */
function ownNetwork(): string | undefined {
  networks += 1;
  return onLoopback ? `127.77.${networks}.1` : undefined;
}

async function loginPage(from: string | undefined, headers = {}) {
  const agent = openUserAgent(issuer, { from, headers });
  return { agent, page: expectPage(await begin(agent, full)) };
}

test('an unknown user, a wrong password and a disabled account look alike [R30.1 S7.channel.1]', async ({
  skip,
}) => {
  const disabled = userWho('disabled');
  const unknown = `nobody-${randomBytes(6).toString('hex')}@example.com`;
  const from = ownNetwork();
  const texts = new Set<string>();
  for (const user of [typical, { ...typical, email: unknown }, disabled]) {
    const { agent, page } = await loginPage(from);
    const next = await logIn(agent, page, {
      email: user.email,
      password: user === disabled ? user.password : 'wrong',
    });
    if (next.kind === 'departure') throw new Error('a login that must fail succeeded');
    // Earlier runs may have started a delay unless the network is for this test alone (R30.1).
    skip(from === undefined && next.answer.status === 429, 'an earlier run’s failures still count');
    expect(loginForm(next)).toBeDefined();
    texts.add(next.text.replaceAll(user.email, ''));
  }
  expect(texts.size).toBe(1);
});

test('35 logins of one account, one after the other, pass [R30.4 R30.3]', async () => {
  const from = ownNetwork();
  for (let time = 0; time < 35; time++) {
    await grant({ agent: openUserAgent(issuer, { from }) });
  }
});

storeTest('X-Forwarded-For from a peer that is no trusted proxy changes no network [R30.6]', async () => {
  const [user, from] = [await throwawayUser(), ownNetwork()];
  const seen: string[] = [];
  for (let time = 1; time <= 12; time++) {
    const { agent, page } = await loginPage(from, { 'x-forwarded-for': `198.51.${time}.1` });
    const next = await logIn(agent, page, { ...user, password: 'wrong' });
    if (next.kind === 'page') seen.push(next.text);
  }
  expect(seen.join()).toMatch(/try again in \d+ second/i);
});
