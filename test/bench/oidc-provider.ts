// npm oidc-provider as a subject, as a bare operator would run it: tokens in Redis, rotation of refresh tokens, access tokens
// ES256 and ID tokens RS256. It is installed beside the cache of the local stack, never in this workspace. Its process makes
// the codes and refresh tokens with its own models.
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { cacheDirectory } from '@course-exchange/local-stack/run-directory';
import { Redis } from 'ioredis';
import { basic } from '../support/flow.ts';
import type { StackFile } from '../support/stack-file.ts';
import { forkServer, type Subject } from './load.ts';

const version = '9.13.3';
const partner = { clientId: 'bench', clientSecret: 'bench-secret-of-a-provider-on-loopback' };
const redirectUri = 'http://127.0.0.1:9099/callback';
const resource = 'urn:course-exchange:bench';
const scopes = { refresh: 'offline_access', exchange: 'openid offline_access' };

interface Order {
  readonly grant: keyof typeof scopes;
  readonly count: number;
}

function install(): string {
  const directory = join(cacheDirectory(), `bench-oidc-provider-${version}`);
  const entry = join(directory, 'node_modules/oidc-provider/lib/index.js');
  if (existsSync(entry)) return entry;
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'package.json'), '{ "private": true }\n');
  const wanted = ['--no-audit', '--no-fund', '--ignore-scripts', `oidc-provider@${version}`];
  execFileSync('npm', ['install', '--prefix', directory, ...wanted], { stdio: 'pipe' });
  return entry;
}

export async function startOidcProvider(stack: StackFile): Promise<Subject> {
  const env = { REDIS_URL: stack.redis, OIDC_PROVIDER: install() };
  const { server, ...subject } = await forkServer('oidc-provider', import.meta.filename, env);
  const { authorization } = basic(partner);
  const post = (form: Readonly<Record<string, string>>) => ({ path: '/token', authorization, form });
  return {
    ...subject,
    make: async (grant, count) => {
      server.send({ grant, count } satisfies Order);
      return (await once(server, 'message'))[0] as string[];
    },
    requests: (secret) => ({
      refresh: post({ grant_type: 'refresh_token', refresh_token: secret }),
      exchange: post({ grant_type: 'authorization_code', code: secret, redirect_uri: redirectUri }),
    }),
    stop: async () => server.kill(),
  };
}

/** What is used of the package. */
type Model = new (
  values: object,
) => Readonly<Record<'addOIDCScope' | 'addResourceScope', (...words: string[]) => void>> & {
  readonly save: () => Promise<string>;
};
type Provider = Readonly<Record<'Grant' | 'RefreshToken' | 'AuthorizationCode', Model>> & {
  readonly callback: () => RequestListener;
  readonly Client: { readonly find: (id: string) => Promise<object> };
};

/** A hash for each record, and a list for each grant of what descends from it. */
const adapterOn = (redis: Redis) => (name: string) => {
  const key = (id: string): string => `peer:${name}:${id}`;
  return {
    upsert: async (id: string, payload: { readonly grantId?: string }, expiresIn: number) => {
      const writes = redis.multi().hset(key(id), 'payload', JSON.stringify(payload));
      if (expiresIn) writes.expire(key(id), expiresIn);
      const list = `peer:grant:${payload.grantId}`;
      if (payload.grantId) writes.rpush(list, key(id)).expire(list, expiresIn);
      await writes.exec();
    },
    find: async (id: string) => {
      const { payload, consumed } = await redis.hgetall(key(id));
      return payload === undefined ? undefined : { ...JSON.parse(payload), ...(consumed && { consumed }) };
    },
    consume: (id: string) => redis.hset(key(id), 'consumed', Math.floor(Date.now() / 1000)),
    destroy: (id: string) => redis.del(key(id)),
    revokeByGrantId: async (grantId: string) => {
      const list = `peer:grant:${grantId}`;
      await redis.del(list, ...(await redis.lrange(list, 0, -1)));
    },
  };
};

const jwk = ({ privateKey }: { privateKey: KeyObject }, alg: string) => ({
  ...privateKey.export({ format: 'jwk' }),
  ...{ alg, use: 'sig', kid: alg },
});

const configuration = {
  clients: [
    {
      client_id: partner.clientId,
      client_secret: partner.clientSecret,
      grant_types: ['authorization_code', 'refresh_token'],
      redirect_uris: [redirectUri],
    },
  ],
  rotateRefreshToken: true,
  ttl: { AccessToken: 900, IdToken: 900, RefreshToken: 2_592_000, Grant: 2_592_000, AuthorizationCode: 300 },
  features: {
    resourceIndicators: {
      enabled: true,
      defaultResource: () => resource,
      useGrantedResource: () => true,
      getResourceServerInfo: () => ({
        scope: 'read',
        audience: resource,
        accessTokenTTL: 900,
        accessTokenFormat: 'jwt',
        jwt: { sign: { alg: 'ES256' } },
      }),
    },
  },
};

async function serve({ REDIS_URL = '', OIDC_PROVIDER = '' }: NodeJS.ProcessEnv): Promise<void> {
  const { default: ProviderClass } = (await import(OIDC_PROVIDER)) as {
    readonly default: new (issuer: string, configured: object) => Provider;
  };
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const rsa = jwk(generateKeyPairSync('rsa', { modulusLength: 2048 }), 'RS256');
  const jwks = { keys: [rsa, jwk(generateKeyPairSync('ec', { namedCurve: 'P-256' }), 'ES256')] };
  const adapter = adapterOn(new Redis(REDIS_URL));
  const provider = new ProviderClass(origin, { ...configuration, adapter, jwks });
  server.on('request', provider.callback());
  const client = await provider.Client.find(partner.clientId);
  const make = async (kind: Order['grant']): Promise<string> => {
    const grant = new provider.Grant({ accountId: 'sub', clientId: partner.clientId });
    grant.addOIDCScope(scopes[kind]);
    grant.addResourceScope(resource, 'read');
    const grantId = await grant.save();
    const model = kind === 'exchange' ? provider.AuthorizationCode : provider.RefreshToken;
    return new model({
      ...{ client, accountId: 'sub', grantId, scope: `${scopes[kind]} read`, resource },
      authTime: Math.floor(Date.now() / 1000),
      ...(kind === 'exchange' ? { redirectUri } : { gty: 'authorization_code' }),
    }).save();
  };
  process.on('message', async ({ grant, count }: Order) =>
    process.send?.(await Promise.all(Array.from({ length: count }, () => make(grant)))),
  );
  process.send?.(origin);
}

if (import.meta.main) await serve(process.env);
