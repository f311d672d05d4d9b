// What rests in the stores after a flow: hashes, never what was given out.
import { createHash } from 'node:crypto';
import { Redis } from 'ioredis';
import { expect } from 'vitest';
import { logIn, tokensOf } from '../support/flow.ts';
import { begin, exchange, freshBrowser, full, grant, stack, storeTest as test } from './deployment.ts';
import { sql, throwawayUser } from './throwaway.ts';

const redis = new Redis(stack.redis ?? '', { lazyConnect: true });
const sha256 = (text: string) => createHash('sha256').update(text).digest('base64url');

/** Every key and value of Redis in one text. */
async function allOfRedis(): Promise<string> {
  const keys = await redis.keys('*');
  const values = keys.map(async (key) => {
    const type = await redis.type(key);
    if (type === 'hash') return JSON.stringify(await redis.hgetall(key));
    return type === 'string' ? redis.get(key) : '';
  });
  return `${keys.join('\n')}\n${(await Promise.all(values)).join('\n')}`;
}

test('codes and refresh tokens rest as SHA-256 [R18.2]', async () => {
  const first = await grant();
  const code = await redis.hgetall(`code:{${first.code.slice(0, 22)}}`);
  expect(Object.values(code)).toContain(sha256(first.code.slice(22)));
  const { refresh_token, access_token, id_token = '' } = tokensOf(await exchange(first));
  const family = await redis.hgetall(`rt:{${refresh_token.slice(0, 22)}}`);
  expect(Object.values(family)).toContain(sha256(refresh_token.slice(22)));
  const rest = await allOfRedis();
  for (const secret of [first.code.slice(22), refresh_token.slice(22), access_token, id_token]) {
    expect(rest).not.toContain(secret);
  }
});

test('Redis knows nothing of a request until a login, and no cookie after it [R6.10]', async () => {
  const [user, agent, state] = [await throwawayUser(), freshBrowser(), 'a state that no other request has'];
  const page = await begin(agent, full, { state });
  if (page.kind !== 'page') throw new Error(`Sent away: ${page.location}`);
  const refused = await logIn(agent, page, { ...user, password: 'wrong' });
  if (refused.kind !== 'page') throw new Error(`Sent away: ${refused.location}`);
  const kept = Buffer.from(state).toString('base64url');
  for (const text of [state, kept]) expect(await allOfRedis()).not.toContain(text);
  await logIn(agent, refused, user);
  const known = await allOfRedis();
  expect(known).toContain(kept);
  for (const { value } of agent.cookies.values()) expect(known).not.toContain(value);
});

test('client secrets rest as SHA-256, of 256 bits in base64url [R18.2 R18.1]', async () => {
  for (const { clientId, clientSecret } of stack.partners) {
    expect(clientSecret).toMatch(/^[A-Za-z0-9_-]{43}$/);
    const rows = await sql<{ hash: string }>(
      "select encode(secret_hash, 'hex') as hash from identity.client_secrets where client_id = $1",
      clientId,
    );
    expect(rows.map(({ hash }) => hash)).toContain(createHash('sha256').update(clientSecret).digest('hex'));
  }
  const [{ text } = { text: '' }] = await sql<{ text: string }>(
    "select string_agg(clients::text || coalesce(s::text, ''), ' ') as text from identity.clients left join identity.client_secrets s using (client_id)",
  );
  for (const { clientSecret } of stack.partners) expect(text).not.toContain(clientSecret);
});

/** Users that the product created; an operator may import others with a sub and a hash of the platform's. */
const ownUsers = () =>
  sql<{ sub: string; hash: string }>(
    'select sub, password_hash as hash from identity.users where sub = any($1)',
    stack.users.map(({ sub }) => sub),
  );

test('passwords rest as argon2id [R18.3]', async () => {
  const rows = await ownUsers();
  expect(rows).toHaveLength(stack.users.length);
  for (const { hash } of rows)
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=\d+,t=\d+,p=\d+\$[\w+/]+\$[\w+/]+$/);
});

test('a browser session rests under the hash of its identifier [R29.8]', async () => {
  const [user, agent] = [await throwawayUser(), freshBrowser()];
  await grant({ user, agent });
  const cookie = [...agent.cookies.values()].find(({ name }) => /session$/.test(name));
  expect(await redis.hget(`session:${sha256(cookie?.value ?? '')}`, 'sub')).toBe(user.sub);
  expect(await allOfRedis()).not.toContain(cookie?.value);
});

test('every sub has 128 bits or more, belongs to one user and cannot be given twice [R19.2]', async () => {
  const subs = (await ownUsers()).map(({ sub }) => sub);
  expect(new Set(subs).size).toBe(stack.users.length);
  for (const sub of subs) expect(sub).toMatch(/^[A-Za-z0-9_-]{22,}$/);
  const again = sql(
    "insert into identity.users (sub, email, password_hash) values ($1, 'twice@example.test', 'x')",
    subs[0],
  );
  await expect(again).rejects.toThrow(/duplicate key/);
});
