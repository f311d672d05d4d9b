// A canary for each kind of R27 is put through every flow, well and badly, with stores up and down; then
// every log line and every exported span is searched for each of them.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  authorizeUrl,
  type Discovery,
  discover,
  loginForm,
  pkce,
  type Tokens,
  token,
  tokensOf,
  walk,
} from '../support/flow.ts';
import { send } from '../support/http.ts';
import { type DemoUser, type Partner, twinPartners, userWho } from '../support/stack-file.ts';
import { type System, startSystem } from '../support/system.ts';
import { receiveTraces, type TraceReceiver } from '../support/trace-receiver.ts';
import { openUserAgent, type Page } from '../support/user-agent.ts';

let traces: TraceReceiver;
let system: System;
let discovery: Discovery;
let partner: Partner;
let user: DemoUser;
/** What must be found nowhere, by kind. */
const canaries = new Map<string, string>();

function canary(kind: string, value: string): string {
  if (value.length < 8) throw new Error(`${kind} is too short to search for`);
  canaries.set(`${kind} ${canaries.size}`, value);
  return value;
}

beforeAll(async () => {
  traces = await receiveTraces();
  system = await startSystem({ LOG_LEVEL: 'debug', OTEL_EXPORTER_OTLP_ENDPOINT: traces.endpoint });
  discovery = await discover(system.stack.issuer);
  [partner] = twinPartners(system.stack);
  user = userWho(system.stack, 'typical season');
  canary('client secret', partner.clientSecret);
  canary('password', user.password);
  canary('e-mail', user.email);
  canary('name', user.name);
  canary('sub', user.sub);
}, 120_000);
afterAll(async () => {
  await system?.stop();
  await traces?.stop();
});

async function login(): Promise<{ tokens: Tokens; code: string; verifier: string }> {
  const { verifier, challenge } = pkce();
  canary('verifier', verifier);
  const agent = openUserAgent(system.stack.issuer);
  const url = authorizeUrl(discovery.authorization_endpoint, partner, {
    state: canary('state', `canary-state-${canaries.size}`),
    nonce: canary('nonce', `canary-nonce-${canaries.size}`),
    login_hint: canary('login hint', 'canary.hint@example.org'),
    code_challenge: canary('challenge', challenge),
    code_challenge_method: 'S256',
  });
  const { parameters } = await walk(agent, await agent.visit(url), user);
  for (const cookie of agent.cookies.values()) canary('cookie', cookie.value);
  const code = canary('code', parameters.get('code') ?? '');
  const tokens = tokensOf(await exchange(code, verifier));
  for (const value of [tokens.access_token, tokens.refresh_token, tokens.id_token ?? ''])
    canary('token', value);
  for (const part of tokens.access_token.split('.').slice(1)) canary('part of a token', part);
  return { tokens, code, verifier };
}

function exchange(code: string, verifier: string, secret = partner.clientSecret) {
  const form = {
    grant_type: 'authorization_code',
    code,
    redirect_uri: partner.redirectUris[0],
    code_verifier: verifier,
  };
  return token(discovery.token_endpoint, { ...partner, clientSecret: secret }, form);
}

async function refuse(): Promise<void> {
  const agent = openUserAgent(system.stack.issuer);
  const start = await agent.visit(
    authorizeUrl(discovery.authorization_endpoint, partner, { prompt: 'login consent' }),
  );
  await walk(agent, start, user, { decision: 'deny' });
}

async function failToLogIn(): Promise<void> {
  const agent = openUserAgent(system.stack.issuer, { from: '127.0.66.1' });
  const page = (await agent.visit(authorizeUrl(discovery.authorization_endpoint, partner))) as Page;
  const form = loginForm(page);
  if (!form) throw new Error('no login form');
  for (let attempt = 0; attempt < 7; attempt++) {
    await agent.submit(page, form, {
      email: canary('unknown e-mail', `canary.unknown.${attempt}@example.org`),
      password: canary('wrong password', `canary wrong password ${attempt}`),
    });
    await agent.submit(page, form, {
      email: user.email,
      password: canary('wrong password', `canary guess ${attempt}`),
    });
  }
}

async function misuse({ tokens, code, verifier }: Awaited<ReturnType<typeof login>>): Promise<void> {
  await exchange(code, verifier);
  await exchange(code, canary('wrong verifier', 'canary-verifier-'.padEnd(43, 'v')));
  await exchange(canary('wrong code', 'canary-code'.padEnd(65, 'c')), verifier);
  await exchange(code, verifier, canary('wrong secret', 'canary-wrong-client-secret'));
  const bearer = canary('wrong bearer', `canary.${'b'.repeat(40)}.token`);
  for (const accessToken of [tokens.access_token, bearer, tokens.id_token ?? '']) {
    const headers = {
      authorization: `Bearer ${accessToken}`,
      cookie: canary('cookie', `session=canary-cookie-${canaries.size}`),
    };
    await send(`${system.stack.issuer}/api/events`, { headers });
    await send(`${system.stack.issuer}/api/events/c2Vhc29u/designs?access_token=${accessToken}`, { headers });
    await send(discovery.userinfo_endpoint, { headers });
  }
  await send(`${discovery.token_endpoint}?client_secret=${canary('query', 'canary-in-the-query')}`, {
    form: {},
  });
  await send(`${system.stack.issuer}/${canary('path', 'canary-in-an-unknown-path')}`);
  await token(discovery.token_endpoint, partner, {
    grant_type: 'refresh_token',
    refresh_token: tokens.refresh_token,
  });
  await token(discovery.token_endpoint, partner, {
    grant_type: 'refresh_token',
    refresh_token: tokens.refresh_token,
  });
}

function logLines(): { readonly service: string; readonly line: string }[] {
  return readdirSync(system.logs)
    .filter((file) => /^(gateway|identity|design-catalog)/.test(file))
    .flatMap((file) =>
      readFileSync(join(system.logs, file), 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => ({ service: file, line })),
    );
}

test('every flow was walked, with stores up and down', async () => {
  const good = await login();
  await refuse();
  await failToLogIn();
  await misuse(good);
  for (const store of ['redis', 'postgres'] as const) {
    await system.kill(store);
    await misuse(good);
    await failToLogIn().catch(() => undefined);
    await system.start(store);
    await expect
      .poll(
        async () =>
          (
            await token(discovery.token_endpoint, partner, {
              grant_type: 'refresh_token',
              refresh_token: 'x',
            })
          ).status,
        { timeout: 15_000 },
      )
      .toBe(400);
  }
  await login();
  expect(canaries.size).toBeGreaterThan(40);
  expect(logLines().length).toBeGreaterThan(100);
}, 180_000);

test('no log line contains a canary, and every line is JSON [R27.1]', () => {
  for (const { service, line } of logLines()) {
    expect(() => JSON.parse(line), `${service}: ${line.slice(0, 200)}`).not.toThrow();
    for (const [kind, value] of canaries) {
      expect(
        line.includes(value) || line.includes(encodeURIComponent(value)),
        `${kind} in ${service}: ${line}`,
      ).toBe(false);
    }
  }
});

test('no span contains a canary [R27.2]', async () => {
  await expect.poll(() => traces.spans().length, { timeout: 15_000 }).toBeGreaterThan(50);
  const sent = traces.raw();
  for (const [kind, value] of canaries) {
    expect(sent.includes(value) || sent.includes(encodeURIComponent(value)), `${kind} in a span`).toBe(false);
  }
});

test('a log names the user by a keyed hash and the client by its client_id [R27.3]', () => {
  const lines = logLines().map(({ line }) => JSON.parse(line) as Record<string, unknown>);
  const users = new Set(lines.map((line) => line.user).filter((name) => name !== undefined));
  expect(users.size).toBeGreaterThan(0);
  expect([...users]).not.toContain(user.sub);
  expect(lines.map((line) => line.client)).toContain(partner.clientId);
});

test('one trace leads from the route through the RPC to the store, and carries the request id', async () => {
  const traceId = 'c0ffee00c0ffee00c0ffee00c0ffee00';
  const { tokens } = await login();
  await send(`${system.stack.issuer}/api/events`, {
    headers: {
      authorization: `Bearer ${tokens.access_token}`,
      traceparent: `00-${traceId}-00f067aa0ba902b7-01`,
      'x-request-id': 'request-of-the-trace-test',
    },
  });
  const ours = () => traces.spans().filter((span) => span.traceId === traceId);
  await expect.poll(() => new Set(ours().map((span) => span.service)).size, { timeout: 15_000 }).toBe(2);
  const names = ours().map((span) => `${span.service}: ${span.name}`);
  expect(names.some((name) => name.startsWith('gateway: GET /api/events'))).toBe(true);
  expect(names.some((name) => /^design-catalog: .*CatalogService\/ListEvents$/.test(name))).toBe(true);
  expect(names.some((name) => name.startsWith('design-catalog: postgres '))).toBe(true);
  const byId = new Map(ours().map((span) => [span.spanId, span]));
  const store = ours().find((span) => span.name.startsWith('postgres '));
  const path: string[] = [];
  for (let at = store; at; at = byId.get(at.parentSpanId)) path.push(at.service);
  expect(path).toEqual(['design-catalog', 'design-catalog', 'gateway', 'gateway']);
  const withId = logLines().filter(({ line }) => line.includes('request-of-the-trace-test'));
  expect(new Set(withId.map(({ service }) => service)).size).toBe(2);
  expect(new Set(withId.map(({ line }) => (JSON.parse(line) as { traceId?: string }).traceId))).toEqual(
    new Set([traceId]),
  );
  const route = ours().find((span) => span.name === 'GET /api/events');
  expect(route?.attributes.get('course_exchange.request_id')).toBe('request-of-the-trace-test');
});
