// Stores and services that stop answering or die: what a partner and a person are told, how soon, and that
// everything recovers without a restart of what stayed alive (R14).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  authorizeUrl,
  basic,
  type Discovery,
  discover,
  type Tokens,
  token,
  tokensOf,
  walk,
} from '../support/flow.ts';
import { type Answer, send } from '../support/http.ts';
import { partnerFor, userWho } from '../support/stack-file.ts';
import { type PartName, type System, startSystem } from '../support/system.ts';
import { openUserAgent, type Page } from '../support/user-agent.ts';

let system: System;
let discovery: Discovery;

beforeAll(async () => {
  system = await startSystem();
  discovery = await discover(system.stack.issuer);
}, 120_000);
afterAll(() => system?.stop());

const partner = () => partnerFor(system.stack, 'openid', 'email', 'profile');
const user = () => userWho(system.stack, 'typical season');

async function newCode(): Promise<string> {
  const agent = openUserAgent(system.stack.issuer);
  const start = await agent.visit(authorizeUrl(discovery.authorization_endpoint, partner()));
  return (await walk(agent, start, user())).parameters.get('code') ?? '';
}

function exchange(code: string): Promise<Answer> {
  const form = { grant_type: 'authorization_code', code, redirect_uri: partner().redirectUris[0] };
  return token(discovery.token_endpoint, partner(), form);
}

async function newTokens(): Promise<Tokens> {
  return tokensOf(await exchange(await newCode()));
}

function refresh(refreshToken: string): Promise<Answer> {
  return token(discovery.token_endpoint, partner(), {
    grant_type: 'refresh_token',
    refresh_token: refreshToken,
  });
}

function events(accessToken: string): Promise<Answer> {
  return send(`${system.stack.issuer}/api/events`, { headers: { authorization: `Bearer ${accessToken}` } });
}

async function timed(ask: () => Promise<Answer>): Promise<Answer & { milliseconds: number }> {
  const begun = performance.now();
  const answer = await ask();
  return { ...answer, milliseconds: performance.now() - begun };
}

function expectUnavailable(answer: Answer & { milliseconds: number }): void {
  expect([answer.status, answer.text]).toEqual([503, '{"error":"temporarily_unavailable"}']);
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  expect(answer.milliseconds).toBeLessThan(2_000);
}

async function expectDiscoveryServed(): Promise<void> {
  expect((await send(`${system.stack.issuer}/.well-known/openid-configuration`)).status).toBe(200);
  const keys = await send(discovery.jwks_uri);
  expect((keys.json().keys as unknown[]).length).toBeGreaterThan(0);
}

/** Asks until the answer is 200; the parts that stayed alive must find their store again by themselves. */
async function expectRecovery(ask: () => Promise<Answer>): Promise<void> {
  await expect.poll(async () => (await ask()).status, { timeout: 15_000, interval: 200 }).toBe(200);
}

/** Of the right form, so that Redis is asked for it. */
const unknownToken = 'A'.repeat(65);

/** Waits until the token endpoint judges again: an unknown token is refused, not "unavailable". */
async function expectTokenEndpoint(): Promise<void> {
  await expect
    .poll(async () => (await refresh(unknownToken)).status, { timeout: 15_000, interval: 100 })
    .toBe(400);
}

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

describe.each(['paused', 'killed'] as const)('Redis %s', (how) => {
  test('exchange and refresh are 503 within 2 s, discovery and keys stay, reads go on, and it recovers [R14.1, R14.2, R14.3]', async () => {
    const tokens = await newTokens();
    const code = await newCode();
    await without('redis', how, async () => {
      expectUnavailable(await timed(() => exchange(code)));
      expectUnavailable(await timed(() => refresh(tokens.refresh_token)));
      await expectDiscoveryServed();
      expect((await events(tokens.access_token)).status).toBe(200);
    });
    await expectTokenEndpoint();
  });

  test('a person in mid-login gets a page that says so [R14.4]', async () => {
    const agent = openUserAgent(system.stack.issuer);
    const login = (await agent.visit(authorizeUrl(discovery.authorization_endpoint, partner()))) as Page;
    await without('redis', how, async () => {
      const [form] = login.forms;
      if (!form) throw new Error('no login form');
      const fields = { email: user().email, password: user().password };
      const page = (await agent.submit(login, form, fields)) as Page;
      expect(page.answer.status).toBe(503);
      expect(page.answer.headers['content-type']).toContain('text/html');
      expect(page.text).toContain(String(page.answer.headers['x-request-id']));
      expect(page.text).not.toMatch(/redis|invalid_|error code/i);
    });
    await expectTokenEndpoint();
  });
});

describe.each(['paused', 'killed'] as const)('Postgres %s', (how) => {
  test('tokens, events, designs and user-info are 503 within 2 s, discovery and keys stay, and it recovers [R14.1, R14.2, R14.3]', async () => {
    const tokens = await newTokens();
    const code = await newCode();
    const bearer = { authorization: `Bearer ${tokens.access_token}` };
    await without('postgres', how, async () => {
      expectUnavailable(await timed(() => exchange(code)));
      expectUnavailable(await timed(() => refresh(tokens.refresh_token)));
      expectUnavailable(await timed(() => events(tokens.access_token)));
      expectUnavailable(
        await timed(() => send(`${system.stack.issuer}/api/events/c2Vhc29u/designs`, { headers: bearer })),
      );
      expectUnavailable(await timed(() => send(discovery.userinfo_endpoint, { headers: bearer })));
      await expectDiscoveryServed();
      expect((await events('not-a-token')).status).toBe(401);
    });
    await expectRecovery(() => events(tokens.access_token));
    await expectRecovery(() => exchange(code));
    await expectRecovery(() => refresh(tokens.refresh_token));
  });

  test('a person at the login form gets a page that says so, and the form works afterwards [R14.4]', async () => {
    const agent = openUserAgent(system.stack.issuer);
    const login = (await agent.visit(authorizeUrl(discovery.authorization_endpoint, partner()))) as Page;
    const [form] = login.forms;
    if (!form) throw new Error('no login form');
    const fields = { email: user().email, password: user().password };
    await without('postgres', how, async () => {
      const page = (await agent.submit(login, form, fields)) as Page;
      expect(page.answer.status).toBe(503);
      expect(page.answer.headers['content-type']).toContain('text/html');
    });
    await expect
      .poll(async () => (await agent.submit(login, form, fields)).answer.status, {
        timeout: 15_000,
        interval: 500,
      })
      .toBeLessThan(400);
  });
});

describe('identity killed', () => {
  test('in mid-exchange: no code is accepted twice, and reads go on with the keys that the catalog knows', async () => {
    const tokens = await newTokens();
    const codes = await Promise.all(Array.from({ length: 20 }, newCode));
    expect((await events(tokens.access_token)).status).toBe(200);
    const first = codes.map((code) =>
      exchange(code).then(
        (answer) => answer.status,
        () => 0,
      ),
    );
    await without('identity', 'killed', async () => {
      const statuses = await Promise.all(first);
      expect(statuses.every((status) => status === 200 || status === 503)).toBe(true);
      expect((await events(tokens.access_token)).status).toBe(200);
      expectUnavailable(await timed(() => refresh(tokens.refresh_token)));
    });
    const statuses = await Promise.all(first);
    await expectTokenEndpoint();
    for (const [index, code] of codes.entries()) {
      const again = await exchange(code);
      // Refused after a success; after a lost answer it may succeed once, if it was never consumed.
      if (statuses[index] === 200)
        expect([again.status, again.text]).toEqual([400, '{"error":"invalid_grant"}']);
      else expect([200, 400]).toContain(again.status);
      expect((await exchange(code)).status).toBe(400);
    }
  });

  test('in mid-refresh: of two uses of one token at most one is accepted', async () => {
    const families = await Promise.all(Array.from({ length: 20 }, newTokens));
    const first = families.map(({ refresh_token }) =>
      refresh(refresh_token).then(
        (answer) => answer.status,
        () => 0,
      ),
    );
    await without('identity', 'killed', async () => {
      await Promise.all(first);
    });
    await expectTokenEndpoint();
    const statuses = await Promise.all(first);
    for (const [index, { refresh_token }] of families.entries()) {
      const again = (await refresh(refresh_token)).status;
      const accepted = [statuses[index], again].filter((status) => status === 200).length;
      expect(accepted).toBeLessThanOrEqual(1);
    }
  });
});

describe('catalog killed', () => {
  test('events are 503, tokens go on, and it recovers [R14.1]', async () => {
    const tokens = await newTokens();
    await without('design-catalog', 'killed', async () => {
      expectUnavailable(await timed(() => events(tokens.access_token)));
      expect((await refresh(tokens.refresh_token)).status).toBe(200);
      const wrongMethod = await send(`${system.stack.issuer}/api/events`, { method: 'POST' });
      expect(wrongMethod.status).toBe(405);
    });
    await expectRecovery(() => events(tokens.access_token));
  });
});

describe('Redis killed under load', () => {
  test('no consumed refresh token is accepted again, and every acknowledged successor is alive', async () => {
    const families = await Promise.all(Array.from({ length: 8 }, newTokens));
    const histories = families.map(({ refresh_token }) => ({
      spent: [] as string[],
      current: refresh_token,
      lost: false,
    }));
    let going = true;
    const lanes = histories.map(async (history) => {
      while (going && !history.lost) {
        const answer = await refresh(history.current);
        if (answer.status === 200) {
          history.spent.push(history.current);
          history.current = tokensOf(answer).refresh_token;
        } else history.lost = true;
      }
    });
    await new Promise((resolve) => setTimeout(resolve, 400));
    await without('redis', 'killed', async () => {
      going = false;
      await Promise.all(lanes);
    });
    await expectTokenEndpoint();
    expect(histories.some((history) => history.spent.length > 0)).toBe(true);
    for (const history of histories) {
      for (const spent of history.spent.slice(-3)) expect((await refresh(spent)).status).toBe(400);
      if (!history.lost) expect((await refresh(history.current)).status).toBe(200);
    }
  });
});

test('credentials of a client are still judged right after all of it', async () => {
  const answer = await send(discovery.token_endpoint, {
    form: { grant_type: 'refresh_token', refresh_token: 'x' },
    headers: basic({ clientId: partner().clientId, clientSecret: 'wrong' }),
  });
  expect([answer.status, answer.text]).toEqual([401, '{"error":"invalid_client"}']);
});
