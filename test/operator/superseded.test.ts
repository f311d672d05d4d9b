// A user connects too often: what the partner and support see of the connection that ended, on a system with a small limit.
import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { basic, type Caller, openCaller, tokensOf } from '../support/flow.ts';
import { send } from '../support/http.ts';
import { type System, startSystem } from '../support/system.ts';
import { openUserAgent } from '../support/user-agent.ts';
import { startTool, toolEnvironment } from './tool.ts';

const stackFile = join(tmpdir(), `course-exchange-superseded-${randomUUID()}.json`);
let system: System;
let caller: Caller;
let redis: Redis;
beforeAll(async () => {
  system = await startSystem({ MAX_REFRESH_FAMILIES: '20' });
  writeFileSync(stackFile, JSON.stringify(system.stack));
  caller = await openCaller(system.stack);
  redis = new Redis(system.stack.redis ?? '');
});
afterAll(async () => {
  redis?.disconnect();
  rmSync(stackFile, { force: true });
  await system?.stop();
});

test('`explain` names the exchange that ended a connection; those in use stay [R11.4 R11.5 R11.7]', async () => {
  const browser = openUserAgent(system.stack.issuer);
  const ask = async (form: Readonly<Record<string, string>>, id: string) => {
    const headers = { ...basic(caller.partner), 'x-request-id': id };
    return send(caller.discovery.token_endpoint, { form, headers });
  };
  const tokens: string[] = [];
  for (let n = 0; n < 20; n += 1) tokens.push((await caller.newTokens(browser)).refresh_token);
  const [first = '', second = '', ...others] = tokens;
  const used = tokensOf(await caller.refresh(first)).refresh_token;
  const [exchange, refused] = [randomUUID(), randomUUID()];
  const newest = tokensOf(await ask(await caller.codeForm(browser), exchange)).refresh_token;
  const refresh = { grant_type: 'refresh_token', refresh_token: second };
  // It ends behind the answer.
  await expect.poll(() => redis.exists(`rt:{${second.slice(0, 22)}}`)).toBe(0);
  const answer = await ask(refresh, refused);
  expect([answer.status, answer.json()]).toEqual([400, { error: 'invalid_grant' }]);
  const environment = toolEnvironment({ PARTNERCTL_STACK: stackFile });
  const explain = () => startTool(['explain', refused, '--json'], environment).ended;
  await expect.poll(async () => (await explain()).exit).toBe(0);
  expect(JSON.parse((await explain()).out)).toMatchObject({
    reason: 'refresh_token_superseded',
    sentence: expect.stringMatching(
      /^A code exchange .* earlier ended this connection: the user had too many/,
    ),
    earlier: { requestId: exchange },
  });
  for (const token of [used, newest, ...others]) expect((await caller.refresh(token)).status).toBe(200);
});
