// Stores and services that stop answering or die: what a partner and a person are told, how soon, and that
// everything recovers without a restart of what stayed alive (R14).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Caller, openCaller, unknownToken } from '../support/caller.ts';
import { authorizeUrl, basic, logIn, tokensOf } from '../support/flow.ts';
import { type Answer, send } from '../support/http.ts';
import { ownStopwatch } from '../support/own-time.ts';
import { type PartName, type System, startSystem } from '../support/system.ts';
import { openUserAgent, type Page, type UserAgent } from '../support/user-agent.ts';

async function expectDiscoveryServed({ discovery }: Pick<Caller, 'discovery'>): Promise<void> {
  expect((await send(`${discovery.issuer}/.well-known/openid-configuration`)).status).toBe(200);
  const keys = await send(discovery.jwks_uri);
  expect((keys.json().keys as unknown[]).length).toBeGreaterThan(0);
}

/** Waits until the token endpoint judges again: an unknown token is refused, not "unavailable". */
async function expectTokenEndpoint({ refresh }: Pick<Caller, 'refresh'>): Promise<void> {
  await expect.poll(async () => (await refresh(unknownToken)).status, { interval: 100 }).toBe(400);
}

async function timed(ask: () => Promise<Answer>): Promise<Answer & { milliseconds: number }> {
  const elapsed = ownStopwatch();
  const answer = await ask();
  return { ...answer, milliseconds: elapsed() };
}

function expectUnavailable(answer: Answer & { milliseconds: number }): void {
  expect([answer.status, answer.text]).toEqual([503, '{"error":"temporarily_unavailable"}']);
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  expect(answer.milliseconds).toBeLessThan(2_000);
}

/** Asks until the answer is 200; the parts that stayed alive must find their store again by themselves. */
async function expectRecovery(ask: () => Promise<Answer>): Promise<void> {
  await expect.poll(async () => (await ask()).status, { interval: 200 }).toBe(200);
}

let system: System;
let caller: Caller;

beforeAll(async () => {
  system = await startSystem();
  caller = await openCaller(system.stack);
}, 120_000);
afterAll(() => system?.stop());

/** Takes `name` away as `how` says, runs `work`, and brings it back whatever happened. */
async function without(name: PartName, how: 'paused' | 'killed', work: () => Promise<void>): Promise<void> {
  if (how === 'paused') system.pause(name);
  else await system.kill(name);
  try {
    await work();
  } finally {
    if (how === 'paused') system.resume(name);
    else await system.start(name);
  }
}

/** Opens the login form; what it returns sends it, each time anew. */
async function openLoginForm() {
  const agent = openUserAgent(system.stack.issuer);
  const url = authorizeUrl(caller.discovery.authorization_endpoint, caller.partner);
  const page = (await agent.visit(url)) as Page;
  return () => logIn(agent, page, caller.user);
}

/** So many of one login: a password is hashed once. */
async function several<T>(count: number, make: (agent: UserAgent) => Promise<T>): Promise<T[]> {
  const agent = openUserAgent(system.stack.issuer);
  const made: T[] = [];
  while (made.length < count) made.push(await make(agent));
  return made;
}

/** The statuses of requests that may be cut off. */
const statusesOf = (answers: readonly Promise<Answer>[]) =>
  answers.map((answer) =>
    answer.then(
      ({ status }) => status,
      () => 0,
    ),
  );

describe.each(['paused', 'killed'] as const)('Redis %s', (how) => {
  test('exchange and refresh are 503 within 2 s, discovery and keys stay, reads go on, and it recovers [R14.1, R14.2, R14.3]', async () => {
    const tokens = await caller.newTokens();
    const code = await caller.codeForm();
    await without('redis', how, async () => {
      expectUnavailable(await timed(() => caller.ask(code)));
      expectUnavailable(await timed(() => caller.refresh(tokens.refresh_token)));
      await expectDiscoveryServed(caller);
      expect((await caller.events(tokens.access_token)).status).toBe(200);
    });
    await expectTokenEndpoint(caller);
  });

  test('a person in mid-login gets a page that says so [R14.4]', async () => {
    const submit = await openLoginForm();
    await without('redis', how, async () => {
      const page = (await submit()) as Page;
      expect(page.answer.status).toBe(503);
      expect(page.answer.headers['content-type']).toContain('text/html');
      expect(page.text).toContain(String(page.answer.headers['x-request-id']));
      expect(page.text).not.toMatch(/redis|invalid_|error code/i);
    });
    await expectTokenEndpoint(caller);
  });
});

describe.each(['paused', 'killed'] as const)('Postgres %s', (how) => {
  test('tokens, events, designs and user-info are 503 within 2 s, discovery and keys stay, and it recovers [R14.1, R14.2, R14.3]', async () => {
    const tokens = await caller.newTokens();
    const code = await caller.codeForm();
    const bearer = { authorization: `Bearer ${tokens.access_token}` };
    await without('postgres', how, async () => {
      expectUnavailable(await timed(() => caller.ask(code)));
      expectUnavailable(await timed(() => caller.refresh(tokens.refresh_token)));
      expectUnavailable(await timed(() => caller.events(tokens.access_token)));
      expectUnavailable(
        await timed(() => send(`${system.stack.issuer}/api/events/c2Vhc29u/designs`, { headers: bearer })),
      );
      expectUnavailable(await timed(() => send(caller.discovery.userinfo_endpoint, { headers: bearer })));
      await expectDiscoveryServed(caller);
      expect((await caller.events('not-a-token')).status).toBe(401);
    });
    await expectRecovery(() => caller.events(tokens.access_token));
    await expectRecovery(() => caller.ask(code));
    await expectRecovery(() => caller.refresh(tokens.refresh_token));
  });

  test('a person at the login form gets a page that says so, and the form works afterwards [R14.4]', async () => {
    const submit = await openLoginForm();
    await without('postgres', how, async () => {
      const page = (await submit()) as Page;
      expect(page.answer.status).toBe(503);
      expect(page.answer.headers['content-type']).toContain('text/html');
    });
    await expect.poll(async () => (await submit()).answer.status, { interval: 500 }).toBeLessThan(400);
  });
});

describe('identity killed', () => {
  test('in mid-exchange: no code is accepted twice, and reads go on with the keys that the catalog knows', async () => {
    const tokens = await caller.newTokens();
    const codes = await several(20, caller.codeForm);
    expect((await caller.events(tokens.access_token)).status).toBe(200);
    const first = statusesOf(codes.map(caller.ask));
    await without('identity', 'killed', async () => {
      const statuses = await Promise.all(first);
      expect(statuses.every((status) => status === 200 || status === 503)).toBe(true);
      expect((await caller.events(tokens.access_token)).status).toBe(200);
      expectUnavailable(await timed(() => caller.refresh(tokens.refresh_token)));
    });
    const statuses = await Promise.all(first);
    await expectTokenEndpoint(caller);
    for (const [index, code] of codes.entries()) {
      const again = await caller.ask(code);
      // Refused after a success; after a lost answer it may succeed once, if it was never consumed.
      if (statuses[index] === 200)
        expect([again.status, again.text]).toEqual([400, '{"error":"invalid_grant"}']);
      else expect([200, 400]).toContain(again.status);
      expect((await caller.ask(code)).status).toBe(400);
    }
  });

  test('in mid-refresh: of two uses of one token at most one is accepted', async () => {
    const families = await several(20, caller.newTokens);
    const first = statusesOf(families.map(({ refresh_token }) => caller.refresh(refresh_token)));
    await without('identity', 'killed', async () => {
      await Promise.all(first);
    });
    await expectTokenEndpoint(caller);
    const statuses = await Promise.all(first);
    for (const [index, { refresh_token }] of families.entries()) {
      const again = (await caller.refresh(refresh_token)).status;
      const accepted = [statuses[index], again].filter((status) => status === 200).length;
      expect(accepted).toBeLessThanOrEqual(1);
    }
  });
});

describe('catalog killed', () => {
  test('events are 503, tokens go on, and it recovers [R14.1]', async () => {
    const tokens = await caller.newTokens();
    await without('design-catalog', 'killed', async () => {
      expectUnavailable(await timed(() => caller.events(tokens.access_token)));
      expect((await caller.refresh(tokens.refresh_token)).status).toBe(200);
      const wrongMethod = await send(`${system.stack.issuer}/api/events`, { method: 'POST' });
      expect(wrongMethod.status).toBe(405);
    });
    await expectRecovery(() => caller.events(tokens.access_token));
  });
});

describe('Redis killed under load', () => {
  test('no consumed refresh token is accepted again, and every acknowledged successor is alive', async () => {
    const families = await several(8, caller.newTokens);
    const histories = families.map(({ refresh_token }) => ({
      spent: [] as string[],
      current: refresh_token,
      lost: false,
    }));
    let going = true;
    const lanes = histories.map(async (history) => {
      while (going && !history.lost) {
        const answer = await caller.refresh(history.current);
        if (answer.status === 200) {
          history.spent.push(history.current);
          history.current = tokensOf(answer).refresh_token;
        } else history.lost = true;
      }
    });
    await expect.poll(() => histories.every(({ spent, lost }) => lost || spent.length > 3)).toBe(true);
    await without('redis', 'killed', async () => {
      going = false;
      await Promise.all(lanes);
    });
    await expectTokenEndpoint(caller);
    expect(histories.some((history) => history.spent.length > 0)).toBe(true);
    for (const history of histories) {
      for (const spent of history.spent.slice(-3)) expect((await caller.refresh(spent)).status).toBe(400);
      if (!history.lost) expect((await caller.refresh(history.current)).status).toBe(200);
    }
  });
});

test('credentials of a client are still judged right after all of it', async () => {
  const answer = await send(caller.discovery.token_endpoint, {
    form: { grant_type: 'refresh_token', refresh_token: 'x' },
    headers: basic({ clientId: caller.partner.clientId, clientSecret: 'wrong' }),
  });
  expect([answer.status, answer.text]).toEqual([401, '{"error":"invalid_client"}']);
});
