// npm oidc-provider as a bare operator would run it: tokens in Redis, rotation of refresh tokens, access tokens ES256 and
// ID tokens RS256. It runs apart from this workspace; its parent asks it for codes and refresh tokens, which it makes
// with its own models.
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';
import { Redis } from 'ioredis';

interface Grant {
  readonly addOIDCScope: (scope: string) => void;
  readonly addResourceScope: (resource: string, scope: string) => void;
  readonly save: () => Promise<string>;
}
type Model<T> = new (values: object) => T;
type Token = { readonly save: () => Promise<string> };
/** What is used of the package. */
interface Provider {
  readonly callback: () => RequestListener;
  readonly Client: { readonly find: (id: string) => Promise<object> };
  readonly Grant: Model<Grant>;
  readonly RefreshToken: Model<Token>;
  readonly AuthorizationCode: Model<Token>;
}

const { REDIS_URL = '', OIDC_PROVIDER = '', CLIENT_ID = '', CLIENT_SECRET = '' } = process.env;
const redirectUri = 'http://127.0.0.1:9099/callback';
const resource = 'urn:course-exchange:bench';
const scopes = { refresh: 'offline_access', exchange: 'openid offline_access' };
const redis = new Redis(REDIS_URL);
const { default: ProviderClass } = (await import(pathToFileURL(OIDC_PROVIDER).href)) as {
  readonly default: new (issuer: string, configuration: object) => Provider;
};

/** A hash for each record, and a list for each grant of what descends from it. */
function adapter(name: string) {
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
}

function jwk(key: KeyObject, alg: string): object {
  return { ...key.export({ format: 'jwk' }), alg, use: 'sig', kid: alg };
}

const server = createServer();
server.listen(0, '127.0.0.1');
await new Promise((listening) => server.once('listening', listening));
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const provider = new ProviderClass(origin, {
  adapter,
  clients: [
    {
      client_id: CLIENT_ID,
      client_secret: CLIENT_SECRET,
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      redirect_uris: [redirectUri],
      token_endpoint_auth_method: 'client_secret_basic',
    },
  ],
  jwks: {
    keys: [
      jwk(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey, 'RS256'),
      jwk(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey, 'ES256'),
    ],
  },
  rotateRefreshToken: true,
  findAccount: async (_context: unknown, sub: string) => ({
    accountId: sub,
    claims: async () => ({ sub }),
  }),
  ttl: { AccessToken: 900, IdToken: 900, RefreshToken: 2_592_000, Grant: 2_592_000, AuthorizationCode: 300 },
  features: {
    devInteractions: { enabled: false },
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
});
server.on('request', provider.callback());
const client = await provider.Client.find(CLIENT_ID);

async function make(kind: keyof typeof scopes): Promise<string> {
  const scope = scopes[kind];
  const grant = new provider.Grant({ accountId: 'sub', clientId: CLIENT_ID });
  grant.addOIDCScope(scope);
  grant.addResourceScope(resource, 'read');
  const values = { client, accountId: 'sub', grantId: await grant.save(), scope: `${scope} read`, resource };
  const authTime = Math.floor(Date.now() / 1000);
  if (kind === 'exchange') return new provider.AuthorizationCode({ ...values, authTime, redirectUri }).save();
  return new provider.RefreshToken({ ...values, authTime, gty: 'authorization_code' }).save();
}

type Order = { readonly grant: keyof typeof scopes; readonly count: number };
process.on('message', async ({ grant, count }: Order) =>
  process.send?.(await Promise.all(Array.from({ length: count }, () => make(grant)))),
);
process.send?.(origin);
