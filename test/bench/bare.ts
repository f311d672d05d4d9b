// The least that the same work can cost, as a subject: one process on the stores of ours, node:http, no rule, no page, no
// telemetry. Tokens by the same Lua step and signatures; lists by one prepared statement, timestamps left as text.
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import pg from 'pg';
import { type StackFile, userWho } from '../support/stack-file.ts';
import { forkServer, type Subject } from './load.ts';

const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('base64url');
const word = (bytes: number): string => randomBytes(bytes).toString('base64url');

export async function startBare({ redis: redisUrl = '', ...stack }: StackFile): Promise<Subject> {
  const env = { REDIS_URL: redisUrl, POSTGRES_URL: stack.postgres };
  const { server, ...subject } = await forkServer('bare', import.meta.filename, env);
  const redis = new Redis(redisUrl);
  const owned = (path: string, about: string) => ({
    path: `${path}${encodeURIComponent(userWho(stack, about).sub)}`,
  });
  return {
    ...subject,
    make: async (grant, count) => {
      const writes = redis.pipeline();
      const made = Array.from({ length: count }, () => [word(16), word(32)] as const);
      for (const [family, secret] of made) writes.hset(`bare-${grant}:{${family}}`, 'hash', hashOf(secret));
      await writes.exec();
      return made.map((parts) => parts.join(''));
    },
    requests: (secret) => ({
      refresh: { path: '/token', form: { grant_type: 'refresh_token', refresh_token: secret } },
      exchange: { path: '/token', form: { grant_type: 'authorization_code', code: secret } },
      events12: owned('/events?owner=', 'typical season'),
      events2000: owned('/events?owner=', '2,000 events'),
      designs500: owned('/designs?event=show-2026-festival&owner=', '730 designs'),
    }),
    stop: async () => {
      redis.disconnect();
      server.kill();
    },
  };
}

// A rotation has the same key twice.
const lua = `if redis.call('HGET', KEYS[1], 'hash') ~= ARGV[1] then return 0 end
if KEYS[1] ~= KEYS[2] then redis.call('DEL', KEYS[1]) end
redis.call('HSET', KEYS[2], 'hash', ARGV[2], 'issued_at', ARGV[3])
redis.call('EXPIRE', KEYS[2], 2592000)
return 1`;

const statements = {
  '/events': `select event_id, name, start_date, end_date, updated_at, design_count
    from catalog.event_summaries where owner = $1`,
  '/designs': `select id, local_id, title, event_name, event_date, updated_at, author_name, short_descr
    from catalog.designs where owner = $1 and event_id = $2 and deleted_at is null and event_id <> ''
    order by updated_at desc nulls last, id limit 500`,
};

function tokens() {
  const { REDIS_URL = '' } = process.env;
  const redis = new Redis(REDIS_URL, { scripts: { grant: { numberOfKeys: 2, lua } } });
  const { grant } = redis as unknown as {
    grant: (...values: readonly (string | number)[]) => Promise<number>;
  };
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const signInThreadPool = promisify(sign);
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
  const unsigned = (alg: string) => {
    const iat = Math.floor(Date.now() / 1000);
    return `${encode({ alg, typ: 'JWT' })}.${encode({ sub: 'sub', iat, exp: iat + 900, jti: word(16) })}`;
  };
  const accessToken = (input: string) =>
    `${input}.${sign('sha256', Buffer.from(input), { key: ec, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
  const idToken = async (input: string) =>
    `${input}.${(await signInThreadPool('sha256', Buffer.from(input), rsa)).toString('base64url')}`;
  return async (form: URLSearchParams): Promise<object> => {
    const code = form.get('code');
    const presented = code ?? form.get('refresh_token') ?? '';
    const [family, secret, next] = [presented.slice(0, 22), presented.slice(22), word(32)];
    const access_token = accessToken(unsigned('ES256'));
    const id_token = code === null ? undefined : await idToken(unsigned('RS256'));
    const key = `bare-refresh:{${family}}`;
    const taken = code === null ? key : `bare-exchange:{${family}}`;
    if ((await grant.call(redis, taken, key, hashOf(secret), hashOf(next), Date.now())) !== 1)
      throw new Error('the token is not current');
    return { access_token, id_token, refresh_token: `${family}${next}`, expires_in: 900 };
  };
}

function serve(): void {
  const types = { getTypeParser: (oid: number) => (oid === 23 ? Number : (raw: string) => raw) };
  const pool = new pg.Pool({ connectionString: process.env.POSTGRES_URL, max: 16, types });
  const token = tokens();
  const list = async ({ pathname, searchParams }: URL): Promise<object> => {
    const name = pathname as keyof typeof statements;
    const values = ['owner', ...(name === '/designs' ? ['event'] : [])].map((field) =>
      searchParams.get(field),
    );
    return { items: (await pool.query({ name, text: statements[name], values })).rows };
  };
  const server = createServer(async (request, response) => {
    const answering =
      request.method === 'POST'
        ? token(new URLSearchParams(await text(request)))
        : list(new URL(`http://bare${request.url}`));
    const [status, body] = await answering.then(
      (answer) => [200, JSON.stringify(answer)] as const,
      (error: unknown) => [500, String(error)] as const,
    );
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    response.writeHead(status, headers).end(body);
  });
  server.listen(0, '127.0.0.1', () =>
    process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
  );
}

if (import.meta.main) serve();
