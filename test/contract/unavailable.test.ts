// A Redis that hangs: what a partner gets and how soon, and what goes on meanwhile.
import { expect, test } from 'vitest';
import type { Answer } from '../support/http.ts';
import { send } from '../support/http.ts';
import { ownStopwatch } from '../support/own-time.ts';
import { api, exchange, full, grant, issuer, oidc, refresh, stack, tokensFor } from './deployment.ts';

const redis = stack.processes?.redis;

async function expectUnavailable(ask: () => Promise<Answer>): Promise<void> {
  const elapsed = ownStopwatch();
  const answer = await ask();
  expect([answer.status, answer.text]).toEqual([503, '{"error":"temporarily_unavailable"}']);
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  expect(elapsed()).toBeLessThan(2_000);
}

test.skipIf(redis === undefined)(
  'while Redis stands still tokens are 503 within 2 s, reads and keys go on, and what was refused is good afterwards [R14.1 R14.2 R14.3]',
  async () => {
    const [code, tokens] = [await grant(), await tokensFor()];
    process.kill(redis ?? 0, 'SIGSTOP');
    try {
      await expectUnavailable(() => exchange(code));
      await expectUnavailable(() => refresh(full, tokens.refresh_token));
      expect((await api('/api/events', tokens.access_token)).status).toBe(200);
      for (const url of [`${issuer}/.well-known/openid-configuration`, oidc.jwks_uri])
        expect((await send(url)).status).toBe(200);
    } finally {
      process.kill(redis ?? 0, 'SIGCONT');
    }
    await expect.poll(async () => (await exchange(code)).status).toBe(200);
    await expect.poll(async () => (await refresh(full, tokens.refresh_token)).status).toBe(200);
  },
);
