// Login: what a failure looks like, and when the next try is not looked at (R30). Every test calls from a
// network of its own, so that it slows no other.
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { logIn, loginForm } from '../support/flow.ts';
import type { DemoUser } from '../support/stack-file.ts';
import { openUserAgent, type Page, type UserAgent } from '../support/user-agent.ts';
import { userWho } from './accounts.ts';
import { address, begin, full, grant, issuer, storeTest, typical, withoutStores } from './deployment.ts';
import { expectPage } from './expectations.ts';
import { throwawayUser } from './throwaway.ts';

const onLoopback = /^https?:\/\/(127\.|localhost)/.test(address) && process.platform === 'linux';
let networks = 0;

/** A loopback address in a /24 of its own, so that failed logins of one test slow no other; elsewhere, none. */
function ownNetwork(): string | undefined {
  networks += 1;
  return onLoopback ? `127.77.${networks}.1` : undefined;
}

/** A test that writes to the stores and calls from several networks, which only this machine's own can be. */
const networkTest = test.skipIf(withoutStores || !onLoopback);

const waitWords = /try again in (\d+) second/i;

async function loginPage(from: string | undefined): Promise<{ agent: UserAgent; page: Page }> {
  const agent = openUserAgent(issuer, { from });
  return { agent, page: expectPage(await begin(agent, full)) };
}

async function fail(from: string | undefined, user: Pick<DemoUser, 'email'>): Promise<Page> {
  const { agent, page } = await loginPage(from);
  const next = await logIn(agent, page, { email: user.email, password: 'wrong' });
  if (next.kind === 'departure') throw new Error('a wrong password was taken');
  return next;
}

type InTime = <T>(work: () => Promise<T>) => Promise<T>;

class TooLate extends Error {}

/** Plays a scene with the first delay in it, and anew where a machine that stood still has let the delay pass. */
async function play(scene: (withinASecond: InTime) => Promise<void>, times = 5): Promise<void> {
  const withinASecond: InTime = async (work) => {
    const begun = performance.now();
    const result = await work();
    if (performance.now() - begun >= 1_000) throw new TooLate();
    return result;
  };
  await scene(withinASecond).catch((error: unknown) => {
    if (!(error instanceof TooLate) || times === 1) throw error;
    return play(scene, times - 1);
  });
}

test('an unknown user, a wrong password and a disabled account look alike [R30.1 S7.channel.1]', async ({
  skip,
}) => {
  const disabled = userWho('disabled');
  const nobody = `nobody-${randomBytes(6).toString('hex')}@example.com`;
  const from = ownNetwork();
  const texts = new Set<string>();
  for (const user of [typical, { ...typical, email: nobody }, disabled]) {
    const { agent, page } = await loginPage(from);
    const next = await logIn(agent, page, {
      email: user.email,
      password: user === disabled ? user.password : 'wrong',
    });
    if (next.kind === 'departure') throw new Error('a login that must fail succeeded');
    // Where no network is the test's own, earlier runs may have started a delay (R30).
    skip(from === undefined && next.answer.status === 429, 'an earlier run’s failures still count');
    expect(loginForm(next)).toBeDefined();
    texts.add(next.text.replaceAll(user.email, ''));
  }
  expect(texts.size).toBe(1);
});

storeTest(
  'the fifth failure starts a delay that doubles; while it runs the right password is not looked at [R30.1 R30.2]',
  () =>
    play(async (withinASecond) => {
      const [user, from] = [await throwawayUser(), ownNetwork()];
      for (let time = 1; time <= 4; time++) expect((await fail(from, user)).text).not.toMatch(waitWords);
      const { agent, page } = await loginPage(from);
      const failAndLogIn = (at: Page) =>
        withinASecond(async () => {
          await fail(from, user);
          return logIn(agent, at, user);
        });
      const refused = expectPage(await failAndLogIn(page), 429);
      expect(Number(waitWords.exec(refused.text)?.[1])).toBe(1);
      await sleep(1_050);
      const again = expectPage(await failAndLogIn(refused), 429);
      expect(Number(waitWords.exec(again.text)?.[1])).toBe(2);
      await sleep(2_050);
      const accepted = await logIn(agent, again, user);
      expect(accepted.kind === 'departure' || loginForm(accepted) === undefined).toBe(true);
    }),
);

networkTest('an account is not closed to its owner in another network [R30.5]', async () => {
  const [user, strangers] = [await throwawayUser(), ownNetwork()];
  for (let time = 1; time <= 6; time++) await fail(strangers, user);
  const owner = openUserAgent(issuer, { from: ownNetwork() });
  expect((await grant({ user, agent: owner })).code).toBeTypeOf('string');
});

storeTest(
  'a success clears the account’s count for its network and counts nothing itself [R30.3]',
  async () => {
    const [user, from] = [await throwawayUser(), ownNetwork()];
    for (let round = 0; round < 3; round++) {
      for (let time = 1; time <= 4; time++) expect((await fail(from, user)).text).not.toMatch(waitWords);
      expect((await grant({ user, agent: openUserAgent(issuer, { from }) })).code).toBeTypeOf('string');
    }
  },
);

test('35 logins of one account, one after the other, pass [R30.4 R30.3]', async () => {
  const from = ownNetwork();
  for (let time = 0; time < 35; time++) {
    await grant({ agent: openUserAgent(issuer, { from }) });
  }
});

storeTest('X-Forwarded-For of somebody who is no trusted proxy moves nobody to another network [R30.6]', () =>
  play(async (withinASecond) => {
    const [user, from] = [await throwawayUser(), ownNetwork()];
    const failAs = async (time: number): Promise<void> => {
      const agent = openUserAgent(issuer, { from, headers: { 'x-forwarded-for': `198.51.${time}.1` } });
      const page = expectPage(await begin(agent, full));
      await logIn(agent, page, { email: user.email, password: 'wrong' });
    };
    for (let time = 1; time <= 4; time++) await failAs(time);
    const refused = await withinASecond(async () => {
      await failAs(5);
      return fail(from, user);
    });
    expect(refused.text).toMatch(waitWords);
  }),
);

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
