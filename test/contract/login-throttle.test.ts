// Login: what a failure looks like, and when the next try is not looked at (R30.2). Every test calls from a
// separate network, so that it slows no other.
import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { logIn, loginForm } from '../support/flow.ts';
import type { DemoUser } from '../support/stack-file.ts';
import { openUserAgent } from '../support/user-agent.ts';
import { address, begin, full, grant, issuer, storeTest, typical, userWho } from './deployment.ts';
import { expectPage } from './expectations.ts';
import { sql, throwawayUser } from './throwaway.ts';

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

const withHash = async (rewrite: string) => {
  const user = await throwawayUser();
  await sql(`update identity.users set password_hash = ${rewrite} where sub = $1`, user.sub);
  onTestFinished(async () => void (await sql('delete from identity.users where sub = $1', user.sub)));
  return user;
};
/** What comes of typing this password: `in`, or what the login page says. */
const attempts = async (user: Pick<DemoUser, 'email'>, password: string, times: number) => {
  const from = ownNetwork();
  const seen: string[] = [];
  for (let time = 1; time <= times; time += 1) {
    const { agent, page } = await loginPage(from);
    const next = await logIn(agent, page, { ...user, password });
    if (next.kind === 'departure' || loginForm(next) === undefined) seen.push('in');
    else seen.push(/incorrect|try again in/i.exec(next.text)?.[0].toLowerCase() ?? next.text);
  }
  return seen;
};

storeTest('a stored hash is read as an import reads it: padded, with leading zeros [R18.6]', async () => {
  const padded = await withHash(
    String.raw`regexp_replace(password_hash, '^(.*)t=2(.*)\$(.*)$', '\1t=02\2==$\3=')`,
  );
  expect(await attempts(padded, 'wrong', 1)).toEqual(['incorrect']);
  expect(await attempts(padded, padded.password, 1)).toEqual(['in']);
});

storeTest.for([
  [
    'a salt of four bytes',
    '$argon2id$v=19$m=4096,t=1,p=1$c2FsdA$wTCgqIcBquQ/JweZbDUBLRncm/K4vHIw/8vekOBa0AA',
  ],
  [
    'costs that scrypt refuses',
    '$scrypt$ln=16,r=1,p=1$c2FsdHNhbHQ$wTCgqIcBquQ/JweZbDUBLRncm/K4vHIw/8vekOBa0AA',
  ],
  [
    'memory that scrypt may not take',
    '$scrypt$ln=1,r=524288,p=4$c2FsdHNhbHQ$wTCgqIcBquQ/JweZbDUBLRncm/K4vHIw/8vekOBa0AA',
  ],
  ['no known form', '$1$saltsalt$qjXMvbEw8oaL.CzflDtaK/'],
])(
  'a stored hash of %s is a wrong password in page and count, and nobody else notices [R18.8]',
  async ([, hash]) => {
    const odd = await withHash(`'${hash}'`);
    const asWrong = [...Array.from({ length: 5 }, () => 'incorrect'), 'try again in'];
    expect(await attempts(odd, odd.password, 6)).toEqual(asWrong);
    const other = await throwawayUser();
    expect(await attempts(other, 'wrong', 6)).toEqual(asWrong);
    expect(await attempts({ ...other, email: `nobody-${other.email}` }, 'wrong', 6)).toEqual(asWrong);
    expect(await attempts(other, other.password, 1)).toEqual(['in']);
  },
);

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
