// Prints what each hot operation costs in CPU time of our services, beside the least that the same work can
// cost (bare-server.ts), both measured in this run. Telemetry is off; Redis and Postgres are not counted.
import { fork } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Redis } from 'ioredis';
import { authorizeUrl, discover, type Tokens, token, tokensOf, walk } from '../support/flow.ts';
import { type Answer, send } from '../support/http.ts';
import { type DemoUser, partnerFor, userWho } from '../support/stack-file.ts';
import { startSystem } from '../support/system.ts';
import { openUserAgent } from '../support/user-agent.ts';
import { costOf, residentMebibytes } from './cpu.ts';

const system = await startSystem({ LOG_LEVEL: 'error' });
const { stack } = system;
const discovery = await discover(stack.issuer);
const partner = partnerFor(stack, 'openid', 'email', 'profile');
const { gateway = 0, identity = 0, 'design-catalog': catalog = 0 } = stack.processes ?? {};
const bare = fork(new URL('./bare-server.ts', import.meta.url), {
  env: { ...process.env, REDIS_URL: stack.redis ?? '', POSTGRES_URL: stack.postgres ?? '' },
});
const [address] = (await once(bare, 'message')) as [AddressInfo];
const bareUrl = `http://127.0.0.1:${address.port}`;
const lanes = 8;

async function codeOf(user: DemoUser): Promise<string> {
  const agent = openUserAgent(stack.issuer);
  const start = await agent.visit(authorizeUrl(discovery.authorization_endpoint, partner));
  return (await walk(agent, start, user)).parameters.get('code') ?? '';
}

async function exchange(code: string): Promise<Tokens> {
  const form = { grant_type: 'authorization_code', code, redirect_uri: partner.redirectUris[0] };
  return tokensOf(await token(discovery.token_endpoint, partner, form));
}

function expect200(answer: Answer): Answer {
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text.slice(0, 200)}`);
  return answer;
}

function print(operation: string, ours: number, peer?: number): void {
  const ratio =
    peer === undefined ? '' : `bare ${peer.toFixed(0).padStart(6)} µs   ratio ${(ours / peer).toFixed(1)}`;
  console.log(`${operation.padEnd(42)} ${ours.toFixed(0).padStart(7)} µs   ${ratio}`);
}

async function refreshes(): Promise<void> {
  const current: string[] = [];
  for (let lane = 0; lane < lanes; lane++) {
    current.push((await exchange(await codeOf(userWho(stack, 'no designs')))).refresh_token);
  }
  const once = async (lane: number): Promise<void> => {
    const form = { grant_type: 'refresh_token', refresh_token: current[lane] };
    current[lane] = tokensOf(await token(discovery.token_endpoint, partner, form)).refresh_token;
  };
  const redis = new Redis(stack.redis ?? '');
  const bareTokens = await Promise.all(
    Array.from({ length: lanes }, async () => {
      const [family, secret] = [randomBytes(16).toString('base64url'), randomBytes(32).toString('base64url')];
      await redis.hset(`bare:{${family}}`, 'hash', createHash('sha256').update(secret).digest('base64url'));
      return `${family}${secret}`;
    }),
  );
  redis.disconnect();
  const bareOnce = async (lane: number): Promise<void> => {
    const answer = expect200(await send(bareUrl, { form: { refresh_token: bareTokens[lane] } })).json();
    bareTokens[lane] = String(answer.refresh_token);
    if (answer.rotated !== 1) throw new Error('the bare server lost its token');
  };
  await costOf([gateway], 1_000, lanes, once);
  await costOf([bare.pid ?? 0], 1_000, lanes, bareOnce);
  const ours = await costOf([gateway, identity], 6_000, lanes, once);
  print('refresh', ours, await costOf([bare.pid ?? 0], 6_000, lanes, bareOnce));
}

async function exchanges(): Promise<void> {
  const codes = await Promise.all(Array.from({ length: 60 }, () => codeOf(userWho(stack, 'no designs'))));
  const ours = await costOf([gateway, identity], codes.length, lanes, async () => {
    await exchange(codes.pop() ?? '');
  });
  print('code exchange (60 of them: coarse)', ours);
}

async function lists(): Promise<void> {
  for (const [about, count] of [
    ['typical season: 12', 4_000],
    ['2,000 events', 200],
  ] as const) {
    const user = userWho(stack, about);
    const { access_token } = await exchange(await codeOf(user));
    const headers = { authorization: `Bearer ${access_token}` };
    const once = async (): Promise<void> => {
      expect200(await send(`${stack.issuer}/api/events`, { headers }));
    };
    const bareOnce = async (): Promise<void> => {
      expect200(await send(`${bareUrl}/?owner=${encodeURIComponent(user.sub)}`));
    };
    await costOf([gateway], count / 4, lanes, once);
    await costOf([bare.pid ?? 0], count / 4, lanes, bareOnce);
    const ours = await costOf([gateway, catalog], count, lanes, once);
    print(`GET /api/events, ${about}`, ours, await costOf([bare.pid ?? 0], count, lanes, bareOnce));
  }
}

async function designs(): Promise<void> {
  const { access_token } = await exchange(await codeOf(userWho(stack, '730 designs')));
  const headers = { authorization: `Bearer ${access_token}` };
  const { items } = (await send(`${stack.issuer}/api/events`, { headers })).json() as {
    items: { id: string; designCount: number }[];
  };
  const [event] = items.filter(({ designCount }) => designCount === 730);
  const once = async (): Promise<void> => {
    expect200(await send(`${stack.issuer}/api/events/${event?.id}/designs`, { headers }));
  };
  await costOf([gateway], 100, lanes, once);
  print('GET …/designs, 500 of 730', await costOf([gateway, catalog], 400, lanes, once));
}

try {
  console.log('CPU time of our services for each operation, and of a bare server for the same work:');
  await refreshes();
  await exchanges();
  await lists();
  await designs();
  for (const [name, pid] of Object.entries({ gateway, identity, 'design-catalog': catalog })) {
    console.log(`resident memory of ${name.padEnd(16)} ${residentMebibytes(pid)} MiB`);
  }
} finally {
  bare.kill();
  await system.stop();
}
process.exit(0);
