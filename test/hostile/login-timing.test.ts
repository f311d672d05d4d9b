// Guessing who has an account, by the time that the answer to a login takes.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { begin, full, issuer, withoutStores } from '../contract/deployment.ts';
import { expectPage } from '../contract/expectations.ts';
import { sql, throwawayUser } from '../contract/throwaway.ts';
import { logIn } from '../support/flow.ts';
import type { DemoUser } from '../support/stack-file.ts';
import { openUserAgent, type UserAgent } from '../support/user-agent.ts';

const onLoopback = /^https?:\/\/(127\.|localhost)/.test(issuer) && process.platform === 'linux';
/** Writes to the stores and calls from many networks, which only this machine's own can be. */
const attack = test.skipIf(withoutStores || !onLoopback);

const made: DemoUser[] = [];
async function victim(passwordHash?: string): Promise<DemoUser> {
  const user = await throwawayUser();
  made.push(user);
  if (passwordHash)
    await sql('update identity.users set password_hash = $2 where sub = $1', user.sub, passwordHash);
  return user;
}
afterAll(() =>
  sql(
    'delete from identity.users where sub = any($1)',
    made.map(({ sub }) => sub),
  ),
);

const unknown = () => ({ email: `nobody-${randomBytes(6).toString('hex')}@example.test`, password: 'wrong' });

/**
 * Types e-mail and password into a login page: the status of the answer, and how long it took in milliseconds. Tries
 * again when a store was too slow (R14.4), as a person would.
 */
async function tryLogin(agent: UserAgent, user: Pick<DemoUser, 'email' | 'password'>) {
  for (let time = 1; ; time += 1, await sleep(1_000)) {
    const start = await begin(agent, full, { prompt: 'login' });
    if (start.answer.status === 503 && time < 5) continue;
    const page = expectPage(start);
    const begun = performance.now();
    const next = await logIn(agent, page, user);
    const tookMs = performance.now() - begun;
    if (next.answer.status === 503 && time < 5) continue;
    return { status: next.answer.status, tookMs };
  }
}

const from = (address: string) => openUserAgent(issuer, { from: address });

attack(
  'the time of an answer tells neither who has an account nor whose hash is the costly one [R18.5]',
  { timeout: 400_000 },
  async () => {
    const end = 'zCDcHwtxz48M6fQ2S9vIzuKPeO7CVi5RHJ3pvhXG5qrCfYKIQenSa';
    const disabled = await victim();
    await sql('update identity.users set disabled_at = now() where sub = $1', disabled.sub);
    const [costly, cheap] = [await victim(`$2b$10$${end}`), await victim(`$2b$04$${end}`)];
    const rounds = 8;
    const longer: Record<string, { costly: number; other: number }> = {};
    for (let round = 1; round <= rounds; round += 1) {
      const agent = from(`127.82.${round}.1`);
      const reference = await tryLogin(agent, costly);
      // Cheap ones before those that count: a pause by what the last logins took would shrink.
      for (let time = 1; time <= 2; time += 1) await tryLogin(agent, cheap);
      for (const [name, user] of Object.entries({ cheap, disabled, unknown: unknown() })) {
        const { status, tookMs } = await tryLogin(agent, user);
        expect([name, status]).toEqual([name, reference.status]);
        longer[name] ??= { costly: 0, other: 0 };
        if (reference.tookMs > 1.3 * tookMs) longer[name].costly += 1;
        if (tookMs > 1.3 * reference.tookMs) longer[name].other += 1;
      }
    }
    // Right 7 times of 8 is knowledge: chance alone does not bring it, however busy the machine is.
    const known = Object.values(longer).filter(({ costly, other }) => Math.max(costly, other) >= rounds - 1);
    expect(known, JSON.stringify(longer)).toEqual([]);
  },
);
