// The least that the same work can cost: one process, node:http, no rule, no page, no telemetry. Refreshes by
// the same Lua step with one ES256 signature; lists events by one prepared statement and JSON.stringify.
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { createServer } from 'node:http';
import { Redis } from 'ioredis';
import pg from 'pg';

const { REDIS_URL = '', POSTGRES_URL = '' } = process.env;
const redis = new Redis(REDIS_URL);
const pool = new pg.Pool({ connectionString: POSTGRES_URL, max: 16 });
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const rotate = `if redis.call('HGET', KEYS[1], 'hash') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'hash', ARGV[2], 'issued_at', ARGV[3])
redis.call('EXPIRE', KEYS[1], ARGV[4])
return 1`;
redis.defineCommand('rotate', { numberOfKeys: 1, lua: rotate });
type Rotate = { rotate: (...values: readonly (string | number)[]) => Promise<number> };

const events = {
  name: 'events',
  text: `select event_id, name, start_date, end_date, updated_at, design_count
         from catalog.event_summaries where owner = $1`,
};

function signed(claims: object): string {
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
  const input = `${encode({ alg: 'ES256', typ: 'at+jwt' })}.${encode(claims)}`;
  const key = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const;
  return `${input}.${sign('sha256', Buffer.from(input), key).toString('base64url')}`;
}

const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('base64url');

async function refresh(body: string): Promise<object> {
  const token = new URLSearchParams(body).get('refresh_token') ?? '';
  const [family, secret] = [token.slice(0, 22), token.slice(22)];
  const next = randomBytes(32).toString('base64url');
  const seconds = Math.floor(Date.now() / 1000);
  const access = signed({ sub: 'sub', iat: seconds, exp: seconds + 900, jti: next });
  const rotated = await (redis as unknown as Rotate).rotate(
    `bare:{${family}}`,
    hashOf(secret),
    hashOf(next),
    Date.now(),
    2_592_000,
  );
  return { access_token: access, refresh_token: `${family}${next}`, expires_in: 900, rotated };
}

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const answer =
    request.method === 'POST'
      ? await refresh(Buffer.concat(chunks).toString())
      : {
          items: (
            await pool.query(events, [new URL(request.url ?? '/', 'http://x').searchParams.get('owner')])
          ).rows,
        };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
});
server.listen(0, '127.0.0.1', () => process.send?.(server.address()));
