// Guessing passwords: from a hundred networks at once, as the owner's neighbour, and by the time that an answer takes.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { begin, full, issuer, withoutStores } from '../contract/deployment.ts';
import { expectPage } from '../contract/expectations.ts';
import { sql, throwawayUser } from '../contract/throwaway.ts';
import { formWith, logIn } from '../support/flow.ts';
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

const nobody = () => ({ email: `nobody-${randomBytes(6).toString('hex')}@example.test`, password: 'wrong' });

/**
 * Types e-mail and password into a login page: the status of the answer, how long it took in milliseconds, and how many
 * seconds to wait it says. Where a store was too slow (R14), it tries again, as a person would.
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
    // The page after the login, or the way back to the partner where nothing is left to ask.
    const accepted = next.kind === 'departure' || formWith(next, 'decision', 'allow') !== undefined;
    const said = next.kind === 'page' ? /try again in (\d+) second/i.exec(next.text)?.[1] : undefined;
    return { status: accepted ? 'accepted' : next.answer.status, tookMs, waitSeconds: Number(said ?? 0) };
  }
}

/** Guesses until the delay is so long that it surely runs on while more is tried; the guesses before the first delay. */
async function guessUntilDelayed(guess: (time: number) => ReturnType<typeof tryLogin>): Promise<number> {
  let free = 0;
  for (let time = 1; time < 200; time += 1) {
    const { status, waitSeconds } = await guess(time);
    if (waitSeconds >= 15) return free;
    if (status === 429) await sleep(waitSeconds * 1000);
    else if (waitSeconds === 0 && free === time - 1) free = time;
  }
  throw new Error('no guess was delayed');
}

const from = (address: string, cookies?: UserAgent['cookies']) =>
  openUserAgent(issuer, { from: address, ...(cookies && { cookies }) });

attack(
  'guesses from a hundred networks are slowed; the owner’s browser and network are not [R30.11 R30.12]',
  { timeout: 400_000 },
  async () => {
    const [owner, attacker] = [await victim(), await victim()];
    const home = from('127.81.230.1');
    expect(await tryLogin(home, owner)).toMatchObject({ status: 'accepted' });
    const guess = { email: owner.email, password: 'wrong' };
    const free = await guessUntilDelayed((network) => tryLogin(from(`127.81.${network}.1`), guess));
    expect(free).toBeGreaterThan(95);
    // Not even the right password is looked at, nor with the cookie of an account of the attacker's own.
    expect(await tryLogin(from('127.81.220.1'), owner)).toMatchObject({ status: 429 });
    const own = from('127.81.221.1');
    expect(await tryLogin(own, attacker)).toMatchObject({ status: 'accepted' });
    expect(await tryLogin(from('127.81.222.1', own.cookies), owner)).toMatchObject({ status: 429 });

    expect(await tryLogin(from('127.81.231.1', home.cookies), owner)).toMatchObject({ status: 'accepted' });
    expect(await tryLogin(from('127.81.230.2'), owner)).toMatchObject({ status: 'accepted' });
  },
);

attack(
  'a neighbour in the same network does not keep the owner’s browser out [R30.12]',
  { timeout: 400_000 },
  async () => {
    const owner = await victim();
    const home = from('127.81.240.1');
    expect(await tryLogin(home, owner)).toMatchObject({ status: 'accepted' });
    const free = await guessUntilDelayed(() => tryLogin(from('127.81.240.99'), nobody()));
    expect(free).toBeGreaterThan(45);
    expect(await tryLogin(from('127.81.240.99'), owner)).toMatchObject({ status: 429 });
    expect(await tryLogin(from('127.81.240.1', home.cookies), owner)).toMatchObject({ status: 'accepted' });
  },
);

attack(
  'the time of an answer tells neither who has an account nor whose hash is the costly one [R18.5]',
  { timeout: 400_000 },
  async () => {
    const end = 'zCDcHwtxz48M6fQ2S9vIzuKPeO7CVi5RHJ3pvhXG5qrCfYKIQenSa';
    const disabled = await victim();
    await sql('update identity.users set disabled_at = now() where sub = $1', disabled.sub);
    const [costly, cheap] = [await victim(`$2b$11$${end}`), await victim(`$2b$04$${end}`)];
    const rounds = 16;
    const longer: Record<string, { costly: number; other: number }> = {};
    for (let round = 1; round <= rounds; round += 1) {
      const agent = from(`127.82.${round}.1`);
      const reference = await tryLogin(agent, costly);
      // Cheap ones before those that count: a pause by what the last logins took would shrink.
      for (let time = 1; time <= 3; time += 1) await tryLogin(agent, cheap);
      for (const [name, user] of Object.entries({ cheap, disabled, nobody: nobody() })) {
        const { status, tookMs } = await tryLogin(agent, user);
        expect([name, status]).toEqual([name, reference.status]);
        longer[name] ??= { costly: 0, other: 0 };
        if (reference.tookMs > 1.3 * tookMs) longer[name].costly += 1;
        if (tookMs > 1.3 * reference.tookMs) longer[name].other += 1;
      }
    }
    // Who is right 15 times of 16 knows; by chance alone, on however busy a machine, nobody is.
    const known = Object.values(longer).filter(({ costly, other }) => Math.max(costly, other) >= rounds - 1);
    expect(known, JSON.stringify(longer)).toEqual([]);
  },
);
