// What the connections of one user take of Redis's memory, however often a client connects (R11.5).
import { randomBytes, randomUUID } from 'node:crypto';
import { inSeconds } from '@course-exchange/rules/brand';
import { carryContextAcrossAwaits } from '@course-exchange/runtime/process/request-context';
import { expect, test } from 'vitest';
import { openFamilyBound } from '../../../../test/stores/families.ts';
import { asRequest, outcomeOf, redirectUri, useEndpoint } from '../../../../test/stores/identity-grant.ts';
import { serverOf } from '../../../../test/stores/redis-servers.ts';
import { pkce } from '../../../../test/support/flow.ts';

carryContextAcrossAwaits();
const endpoint = await useEndpoint();
const { redis, issue, exchange } = endpoint;
const server = serverOf(redis);

test('10,000 exchanges of a user and client take less than 6 MB, and in the end 700 KB [R11.5 R11.8 R11.10]', async () => {
  await server.flushdb();
  const used = async () => {
    // A busy machine has slow commands, which Redis keeps.
    await server.slowlog('RESET');
    return Number(/^used_memory:(\d+)/m.exec(await server.info('memory'))?.[1]);
  };
  const families = openFamilyBound(endpoint.identity, redis, endpoint.deps);
  const by = { ...endpoint.deps, families };
  await exchange(await issue(), { by });
  const before = await used();
  // Long values, which a used code does not keep.
  const nonce = randomBytes(1_500).toString('base64url');
  const uri = `${redirectUri}?${'x'.repeat(100)}`;
  let most = 0;
  for (let n = 0; n < 200; n += 1) {
    const exchanges = Array.from({ length: 50 }, async () => {
      const challenge = randomBytes(96).toString('base64url');
      const pkce = { challenge, method: 'plain' } as const;
      const code = await issue({ nonce, pkce, redirectUri: uri, scopes: ['email', 'profile'] });
      const fields = { by, codeVerifier: challenge, redirectUri: uri };
      await asRequest(randomUUID(), () => exchange(code, fields));
    });
    await Promise.all(exchanges);
    most = Math.max(most, await used());
  }
  await families.flush();
  expect(most - before).toBeLessThan(6_000_000);
  // As in ten minutes: each key whose time is up by then is gone.
  for (const key of await server.keys('code:*')) {
    expect(await server.ttl(key)).toBeLessThanOrEqual(600);
    await server.del(key);
  }
  await expect.poll(async () => (await used()) - before).toBeLessThan(700_000);
}, 600_000);

const s256 = pkce();
const long = randomBytes(96).toString('base64url');
test.each([
  ['no challenge', undefined, '', redirectUri],
  ['S256', { challenge: s256.challenge, method: 'S256' }, s256.verifier, redirectUri],
  ['a long plain challenge', { challenge: long, method: 'plain' }, long, redirectUri],
  ['a long redirect URI', undefined, '', `${redirectUri}?${'x'.repeat(500)}`],
] as const)(
  'a used code with %s keeps what its replay needs, and Redis packs it [R10.2 R10.4 R11.8]',
  async (_, challenge, codeVerifier, uri) => {
    const code = await issue({
      pkce: challenge,
      redirectUri: uri,
      nonce: long,
      authTime: inSeconds(1_000),
      stateMissing: true,
    });
    const [key, family] = [`code:{${code.slice(0, 22)}}`, `rt:{${code.slice(0, 22)}}`];
    const fields = { codeVerifier, redirectUri: uri };
    const requestId = 'x'.repeat(64);
    await asRequest(requestId, () => exchange(code, fields));
    const kept = await server.hgetall(key);
    const bound = challenge ? ['challenge', 'method'] : [];
    const replays = ['hash', 'client', 'sub', 'redirect_uri', 'used', 'used_by', ...bound];
    expect(Object.keys(kept).sort()).toEqual(replays.sort());
    expect(kept.used_by).toBe(requestId);
    for (const packed of [key, family]) expect(await server.object('ENCODING', packed)).toBe('listpack');
    for (const other of [{ redirectUri: `${uri}y` }, { codeVerifier: codeVerifier ? 'y'.repeat(43) : long }])
      expect(await outcomeOf(exchange(code, { ...fields, ...other }))).toBe('invalid_grant');
    expect(await server.hexists(family, 'hash')).toBe(1);
    expect(await outcomeOf(exchange(code, fields))).toBe('invalid_grant');
    expect(await server.hget(family, 'revoked_by')).toBe('');
  },
);
