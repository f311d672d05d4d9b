// The least that the same work can cost: one process, node:http, no rule, no page, no telemetry. Tokens by the same Lua
// steps and signatures; lists by one prepared statement, timestamps left as text, and JSON.stringify.
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { createServer } from 'node:http';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import pg from 'pg';

const { REDIS_URL = '', POSTGRES_URL = '' } = process.env;
const redis = new Redis(REDIS_URL);
const types = { getTypeParser: (oid: number) => (oid === 23 ? Number : (text: string) => text) };
const pool = new pg.Pool({ connectionString: POSTGRES_URL, max: 16, types });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const signInThreadPool = promisify(sign);
const lifetime = 2_592_000;

// A rotation has the same key twice.
redis.defineCommand('grant', {
  numberOfKeys: 2,
  lua: `if redis.call('HGET', KEYS[1], 'hash') ~= ARGV[1] then return 0 end
if KEYS[1] ~= KEYS[2] then redis.call('DEL', KEYS[1]) end
redis.call('HSET', KEYS[2], 'hash', ARGV[2], 'issued_at', ARGV[3])
redis.call('EXPIRE', KEYS[2], ARGV[4])
return 1`,
});
type Step = (...values: readonly (string | number)[]) => Promise<number>;
const { grant } = redis as unknown as { readonly grant: Step };

const statements = {
  events: `select event_id, name, start_date, end_date, updated_at, design_count
    from catalog.event_summaries where owner = $1`,
  designs: `select id, local_id, title, event_name, event_date, updated_at, author_name, short_descr
    from catalog.designs where owner = $1 and event_id = $2 and deleted_at is null and event_id <> ''
    order by updated_at desc nulls last, id limit 500`,
};

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('base64url');
const es256 = { key: ec.privateKey, dsaEncoding: 'ieee-p1363' } as const;

function accessToken(): string {
  const iat = Math.floor(Date.now() / 1000);
  const claims = { sub: 'sub', iat, exp: iat + 900, jti: randomBytes(16).toString('base64url') };
  const input = `${encode({ alg: 'ES256', typ: 'at+jwt' })}.${encode(claims)}`;
  return `${input}.${sign('sha256', Buffer.from(input), es256).toString('base64url')}`;
}

async function idToken(): Promise<string> {
  const iat = Math.floor(Date.now() / 1000);
  const input = `${encode({ alg: 'RS256', typ: 'JWT' })}.${encode({ sub: 'sub', iat, exp: iat + 900 })}`;
  const signature = await signInThreadPool('sha256', Buffer.from(input), rsa.privateKey);
  return `${input}.${signature.toString('base64url')}`;
}

async function token(form: URLSearchParams): Promise<object> {
  const isRefresh = form.get('grant_type') === 'refresh_token';
  const presented = form.get(isRefresh ? 'refresh_token' : 'code') ?? '';
  const [family, secret] = [presented.slice(0, 22), presented.slice(22)];
  const next = randomBytes(32).toString('base64url');
  const [access_token, id_token] = [accessToken(), isRefresh ? undefined : await idToken()];
  const values = [hashOf(secret), hashOf(next), Date.now(), lifetime];
  const key = `bare-refresh:{${family}}`;
  const done = await grant.call(redis, isRefresh ? key : `bare-exchange:{${family}}`, key, ...values);
  if (done !== 1) throw new Error('the token is not current');
  return { access_token, id_token, refresh_token: `${family}${next}`, expires_in: 900 };
}

async function rows(name: keyof typeof statements, values: readonly (string | null)[]) {
  return (await pool.query({ name, text: statements[name], values: [...values] })).rows;
}

async function answer(path: string, query: URLSearchParams): Promise<string> {
  if (path === '/designs')
    return JSON.stringify({ items: await rows('designs', [query.get('owner'), query.get('event')]) });
  return JSON.stringify({ items: await rows('events', [query.get('owner')]) });
}

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  if (request.method === 'POST') for await (const chunk of request) chunks.push(chunk as Buffer);
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://x');
  try {
    const body =
      request.method === 'POST'
        ? JSON.stringify(await token(new URLSearchParams(Buffer.concat(chunks).toString())))
        : await answer(pathname, searchParams);
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    });
    response.end(body);
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
});
server.listen(0, '127.0.0.1', () => process.send?.(server.address()));
