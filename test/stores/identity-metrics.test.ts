// What identity's metrics look up in its stores, and how often.
import type { Queries } from '@course-exchange/runtime/postgres/pool';
import { createLogger } from '@course-exchange/runtime/process/logger';
import { withCall } from '@course-exchange/runtime/process/request-context';
import { Secret } from '@course-exchange/runtime/process/secret';
import { startTelemetry } from '@course-exchange/runtime/process/telemetry';
import { context, ROOT_CONTEXT } from '@opentelemetry/api';
import { expect, test } from 'vitest';
import type { Scope } from '../../services/identity/src/clients/scope.ts';
import { listLastingSecrets } from '../../services/identity/src/clients/secret-table.ts';
import type { ClientId, Sub } from '../../services/identity/src/ids.ts';
import { type AccessTokens, issueAccessToken } from '../../services/identity/src/jwt/access-token.ts';
import { observeStores } from '../../services/identity/src/observations.ts';
import { createRequestLog } from '../../services/identity/src/request-log.ts';
import { getUserInfo } from '../../services/identity/src/token/userinfo.ts';
import {
  addGrant,
  addPartner,
  issueCode,
  requestExchange,
  requestTokens,
  useEndpoint,
} from './identity-grant.ts';

const { identity, redis, endpoint } = await useEndpoint();

const { metricsText = () => Promise.reject(new Error('no metrics')) } = await startTelemetry('identity', {
  OTEL_EXPORTER_OTLP_ENDPOINT: undefined,
  OTEL_METRICS_EXPORTER: 'prometheus',
  OTEL_TRACES_SAMPLER_ARG: 1,
});

const inCall = <T>(work: () => Promise<T>): Promise<T> =>
  context.with(withCall(ROOT_CONTEXT, 'request-0001', Date.now() + 60_000), work);

test('a secret tells the seconds until it expires, and is read once a minute however many scrape', async () => {
  const { clientId } = await addPartner(identity);
  const expiresAt = Date.now() + 3_600_000;
  await identity.sql('update client_secrets set expires_at = $2 where client_id = $1', [
    clientId,
    new Date(expiresAt).toISOString(),
  ]);
  let [time, reads] = [expiresAt - 90_000, 0];
  const database: Queries = {
    query: (...query) => {
      reads += 1;
      return identity.database.query(...query);
    },
  };
  observeStores({ database, redis, keys: endpoint.tokens.keys, now: () => time });
  const secondsLeft = async () =>
    new RegExp(`client_secret_expires_in_seconds{client_id="${clientId}".*} (.*)`).exec(
      await metricsText(),
    )?.[1];
  expect([await secondsLeft(), reads]).toEqual(['90', 1]);
  time += 59_000;
  expect([await secondsLeft(), reads]).toEqual(['31', 1]);
  time += 1_000;
  expect([await secondsLeft(), reads]).toEqual(['30', 2]);
});

test('the last secret of an active client is told after it has expired, until another one is valid', async () => {
  const { clientId } = await addPartner(identity);
  const told = async () => {
    const secrets = await listLastingSecrets(identity.database);
    return secrets.filter((secret) => secret.clientId === clientId).map(({ expiresAt }) => expiresAt);
  };
  const expire = () =>
    identity.sql("update client_secrets set expires_at = now() - interval '1 hour' where client_id = $1", [
      clientId,
    ]);
  const add = (expiry: string) =>
    identity.sql(
      `insert into client_secrets (client_id, secret_hash, expires_at)
       values ($1, sha256(gen_random_uuid()::text::bytea), ${expiry})`,
      [clientId],
    );
  await expire();
  const [expiredAt = 0] = await told();
  expect(expiredAt).toBeLessThan(Date.now());
  await add("now() - interval '1 day'");
  expect(await told()).toEqual([expiredAt]);
  await add('null');
  expect(await told()).toEqual([null]);
  await expire();
  await identity.sql('update clients set active = false where client_id = $1', [clientId]);
  expect(await told()).toEqual([]);
});

test('what user-info refuses is counted, by what is wrong with the token [R16 R26.2]', async () => {
  const { tokens } = endpoint;
  const seconds = Math.floor(Date.now() / 1_000);
  const grant = {
    sub: 'nobody' as Sub,
    clientId: 'partner' as ClientId,
    scopes: ['openid'] as readonly Scope[],
  };
  const issue = (changes: Partial<AccessTokens & typeof grant>, at = seconds) =>
    issueAccessToken({ ...tokens, ...changes }, { ...grant, ...changes }, at, 'id');
  const [header, , signature] = (await issue({})).split('.');
  const [, claims] = (await issue({ sub: 'somebody else' as Sub })).split('.');
  const refused: readonly [string, string | undefined][] = [
    ['no token', undefined],
    ['malformed', 'nonsense'],
    ['issuer', await issue({ issuer: 'https://other.example' })],
    ['expired', await issue({}, seconds - 3_600)],
    ['issued later', await issue({}, seconds + 60)],
    ['signature', [header, claims, signature].join('.')],
    ['scope', await issue({ scopes: ['email'] })],
    ['subject', await issue({})],
  ];
  for (const [, token] of refused)
    await inCall(() =>
      expect(getUserInfo(endpoint, token && `Bearer ${token}`)).rejects.toMatchObject({
        code: 'invalid_token',
      }),
    );
  const counted = (await metricsText()).matchAll(
    /access_tokens_refused_total\{reason="(.*)",client_id="(.*)"\} 1$/gm,
  );
  const unsigned = ['no token', 'malformed', 'signature'];
  expect([...counted].map(([, ...labels]) => labels).toSorted()).toEqual(
    refused.map(([reason]) => [reason, unsigned.includes(reason) ? 'unknown' : 'partner']).toSorted(),
  );
});

test('each refused token request is counted for its client, once it has authenticated, and told once [R33]', async () => {
  const { partner, granted } = await addGrant(identity);
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger('identity', 'info', (line) => lines.push(JSON.parse(line)));
  const deps = { ...endpoint, ...createRequestLog(logger, new Secret(Buffer.alloc(32))) };
  const { refreshToken } = await requestExchange(deps, partner, await issueCode(redis, granted));
  const { clientId: client } = partner;
  const wrong = { ...partner, secret: 'wrong' };
  const grantType = 'refresh_token';
  const refused: readonly [typeof partner, Record<string, string>, string, string][] = [
    [partner, { grantType, refreshToken, scope: 'openid admin' }, 'invalid_scope', 'beyond the grant'],
    [partner, { grantType: 'password' }, 'unsupported_grant_type', 'grant_type'],
    [partner, {}, 'invalid_request', 'grant_type'],
    [
      partner,
      { grantType: 'authorization_code', code: 'c' },
      'invalid_request',
      'code or redirect_uri missing',
    ],
    [partner, { grantType, refreshToken: 'x' }, 'invalid_grant', 'malformed'],
    [wrong, { grantType: 'password' }, 'invalid_client', 'wrong_secret'],
    [partner, { authorization: 'Basic eDp5' }, 'invalid_request', 'two client authentication methods'],
  ];
  lines.length = 0;
  for (const [sender, fields] of refused)
    await inCall(() => expect(requestTokens(deps, sender, fields)).rejects.toThrow());
  const proven = (code: string, reason: string) => code !== 'invalid_client' && !reason.startsWith('two');
  const counted = (await metricsText()).matchAll(
    /tokens_refused_total\{error_type="(.*)",reason="(.*)",client_id="(.*)"\} 1$/gm,
  );
  expect([...counted].map(([, ...labels]) => labels).toSorted()).toEqual(
    refused.map(([, , code, reason]) => [code, reason, proven(code, reason) ? client : 'unknown']).toSorted(),
  );
  expect(lines.map(({ message, code, reason }) => [message, code, reason])).toEqual(
    refused.map(([, , code, reason]) =>
      ['invalid_grant', 'invalid_client'].includes(code)
        ? ['security event', undefined, reason]
        : ['request refused', code, reason],
    ),
  );
  expect(lines.map((line) => line.client)).toEqual([...Array(6).fill(client), undefined]);
});
