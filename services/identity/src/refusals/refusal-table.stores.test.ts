// What is kept of a refusal for support, for how long, and what it never costs (R34.1, R34.3).
import { randomBytes } from 'node:crypto';
import { createLogger } from '@course-exchange/runtime/process/logger';
import { carryContextAcrossAwaits, withCall } from '@course-exchange/runtime/process/request-context';
import { Secret } from '@course-exchange/runtime/process/secret';
import { context, ROOT_CONTEXT } from '@opentelemetry/api';
import { beforeEach, expect, test } from 'vitest';
import { useAuthorization } from '../../../../test/stores/identity-authorization.ts';
import { addPartner, outcomeOf } from '../../../../test/stores/identity-grant.ts';
import { cancelAuthorization } from '../authorize/choices.ts';
import type { ClientId, Sub } from '../ids.ts';
import { createRequestLog } from '../request-log.ts';
import { securityEvents } from '../security-events.ts';
import { issueAccessToken } from '../token/jwt.ts';
import { getUserInfo } from '../token/userinfo.ts';
import { explain } from './explanation.ts';
import type { RefusalRecord } from './reasons.ts';
import { createRefusalQueue, findRefusals } from './records.ts';
import { insertRefusals } from './refusal-table.ts';

carryContextAcrossAwaits();
const logger = createLogger('identity', 'error', () => {});
const log = createRequestLog(logger, new Secret(randomBytes(32)), {
  record: (refused) => queue.record(refused),
  learnNetwork: (...network) => queue.learnNetwork(...network),
});
const flow = await useAuthorization(1, log);
const { identity, deps, begin, beginForm, signIn, exchange, issue, request } = flow;
const { database, operator, sql } = identity;
const write = (records: readonly RefusalRecord[]) => insertRefusals(database, records);
const queue = createRefusalQueue({ write, now: Date.now, logger });

let clientId: ClientId;
let sub: Sub;
let user: string;
beforeEach(async () => {
  ({ clientId } = flow.partner);
  [{ sub } = { sub }] = (await sql('select sub from consents where client_id = $1', [clientId])) as [
    { sub: Sub },
  ];
  user = log.keyedUser(sub);
  await sql('delete from refusals');
});

/** Does `work` as one request; gives its records. */
async function recordsFrom(work: () => Promise<unknown>, requestId = randomBytes(12).toString('hex')) {
  const call = withCall(ROOT_CONTEXT, requestId, Date.now() + 10_000);
  await context.with(call, () => work().catch(() => undefined));
  await queue.flush();
  const none = { clientId: undefined, code: undefined, since: undefined, until: undefined };
  const page = { after: undefined, limit: 1_000 };
  return (await findRefusals({ database: operator }, { ...none, requestId }, page)).refusals;
}

const userinfo = { ...deps, ...log };

const token = { endpoint: 'token', clientAuthenticated: true, code: 'invalid_grant', earlier: null };

test('a refused token request leaves client, reason, and keyed hashes of user and grant', async () => {
  const [code, other] = [await issue(), await addPartner(identity)];
  const [foreign] = await recordsFrom(() => exchange(code, { as: other }));
  expect(foreign).toMatchObject({ ...token, clientId: other.clientId, reason: 'code_foreign', user });
  expect(Math.abs(Date.now() - (foreign?.at ?? 0))).toBeLessThan(60_000);
  const { refreshToken } = await exchange(code);
  const [beyond] = await recordsFrom(() =>
    request({ grantType: 'refresh_token', refreshToken, scope: 'openid admin' }),
  );
  expect(beyond).toMatchObject({
    ...token,
    clientId,
    code: 'invalid_scope',
    reason: 'beyond_the_grant',
    user,
  });
  expect(beyond?.family).toBe(foreign?.family);
  expect(beyond?.family).toMatch(/^[\w-]{22}$/);
  expect(code).not.toContain(beyond?.family);
});

test('a reused refresh token leaves the request that replaced it', async () => {
  const { refreshToken } = await exchange(await issue());
  const refresh = () => request({ grantType: 'refresh_token', refreshToken });
  const before = Date.now();
  expect(await recordsFrom(refresh, 'request-that-refreshed')).toEqual([]);
  const [reused] = await recordsFrom(refresh);
  expect(reused).toMatchObject({
    ...{ ...token, clientId, reason: 'refresh_token_reused', user },
    earlier: { requestId: 'request-that-refreshed' },
  });
  expect(reused?.earlier?.at).toBeGreaterThanOrEqual(before);
  expect(reused?.earlier?.at).toBeLessThanOrEqual(reused?.at ?? 0);
});

test('a client that has not authenticated is named, unless a secret may stand in its place', async () => {
  const asked = async (as: { clientId: string; secret: string }, fields = {}) => {
    const [record] = await recordsFrom(() =>
      request({ as: as as typeof flow.partner, grantType: 'x', ...fields }),
    );
    const { clientId, clientAuthenticated, reason } = record ?? {};
    expect(clientAuthenticated).toBe(false);
    return [clientId, reason];
  };
  const secret = 'wrong';
  expect(await asked({ clientId, secret })).toEqual([clientId, 'wrong_secret']);
  expect(await asked({ clientId: 'acme-tset', secret })).toEqual(['acme-tset', 'unknown_client']);
  expect(await asked({ clientId: 'acme', secret: '' })).toEqual(['acme', 'no_credentials']);
  const authorization = `Basic ${Buffer.from('acme:x').toString('base64')}`;
  expect(await asked({ clientId: 'other', secret }, { authorization })).toEqual([
    'acme',
    'two_client_authentication_methods',
  ]);
  for (const strange of [flow.partner.secret, 'ada@example.org', 'a\u001b[2Jb', 'no\0body'])
    expect(await asked({ clientId: strange, secret })).toEqual([null, 'unknown_client']);
});

test('an authorization request leaves a record, refused directly, by redirect or on a page', async () => {
  const authorization = { endpoint: 'authorization', clientAuthenticated: false, family: null };
  const expected = { ...authorization, clientId, user: null };
  expect(await recordsFrom(() => begin({ clientId: 'acme' as ClientId }))).toMatchObject([
    { ...expected, clientId: 'acme', code: 'invalid_client', reason: 'unknown_client' },
  ]);
  expect(await recordsFrom(() => begin({ redirectUri: 'https://else.example/' }))).toMatchObject([
    { ...expected, code: 'invalid_redirect_uri', reason: 'redirect_uri_not_registered' },
  ]);
  expect(await recordsFrom(() => begin({ prompt: 'none' }))).toMatchObject([
    { ...expected, code: 'login_required', reason: 'prompt_none_login' },
  ]);
  const form = await signIn(await beginForm());
  const known = { ...expected, user: log.keyedUser(flow.person.sub) };
  expect(await recordsFrom(() => begin({ prompt: 'none' }, form.browserSession))).toMatchObject([
    { ...known, code: 'consent_required', reason: 'prompt_none_consent' },
  ]);
  expect(await recordsFrom(() => cancelAuthorization(deps, { ...form, formToken: 'x' }))).toMatchObject([
    { ...known, code: 'invalid_request', reason: 'form_of_another_browser' },
  ]);
  expect(await recordsFrom(() => cancelAuthorization(deps, form))).toMatchObject([
    { ...known, code: 'access_denied', reason: 'consent_denied' },
  ]);
});

test('user-info leaves the client of a token that we signed', async () => {
  const issued = (seconds: number) =>
    issueAccessToken(deps.tokens, { sub, clientId, scopes: ['openid'] }, Date.now() - seconds * 1_000, 'id');
  const ask = (bearer: string) => recordsFrom(() => getUserInfo(userinfo, bearer));
  const answered = { endpoint: 'userinfo', code: 'invalid_token', family: null };
  expect(await ask('nonsense')).toMatchObject([
    { ...answered, clientId: null, clientAuthenticated: false, reason: 'malformed' },
  ]);
  expect(await ask(await issued(3_600))).toMatchObject([
    { ...answered, clientId, clientAuthenticated: true, reason: 'expired' },
  ]);
  await sql('update users set disabled_at = now() where sub = $1', [sub]);
  expect(await ask(await issued(0))).toMatchObject([{ ...answered, clientId, user, reason: 'subject' }]);
});

// What identity stored before reasons were identifiers.
const sentences = {
  token: [
    'repeated parameter|two client authentication methods|two client ids|grant_type missing|grant_type|malformed verifier',
    'code or redirect_uri missing|PKCE verifier|refresh_token missing|beyond the grant|no approved scope is left',
    ...['no_credentials', 'unknown_client', 'inactive_client', 'wrong_secret'].map(
      (reason) => `client_authentication.failed ${reason}`,
    ),
    ...securityEvents['code.refused'].map((reason) => `code.refused ${reason}`),
    ...securityEvents['refresh_token.refused'].map((reason) => `refresh_token.refused ${reason}`),
  ],
  authorization: [
    'a parameter came twice|client_id missing|unknown client|inactive client|redirect_uri missing|unknown scope|PKCE',
    'redirect_uri not registered|scope missing|scope not approved|response_type missing|response_type|request|prompt',
    'state too long, or not UTF-8|nonce too long, or not UTF-8|request_uri|response_mode|max_age|id_token_hint.refused',
    ...['login', 'account', 'consent'].map((page) => `prompt=none, and ${page} is to be asked`),
    'another user than the hinted one|scope no longer approved|consent.denied|form came too late',
    'form of another browser|decided otherwise before',
  ],
  userinfo: ['no token', 'issued later', 'malformed', 'key'].map(
    (reason) => `access_token.refused ${reason}`,
  ),
};

test('a record whose reason is a sentence of an earlier build is read as the identifier', async () => {
  const stored = Object.entries(sentences).flatMap(([endpoint, lists]) =>
    lists.flatMap((list) => list.split('|')).map((reason) => ({ endpoint, reason })),
  );
  const records = stored.map((one) => ({ requestId: 'earlier', at: Date.now(), ...token, clientId, ...one }));
  const read = await recordsFrom(() => write(records as unknown as RefusalRecord[]), 'earlier');
  expect(read).toHaveLength(stored.length);
  const unexplained = read.filter((one) => explain(one).sentence === 'The request was refused.');
  expect(unexplained).toEqual([]);
  const reasons = new Set(read.map(({ endpoint, reason }) => `${endpoint}.${reason}`));
  expect(reasons.size).toBe(stored.length);
  expect(explain({ ...read[0], reason: 'x' } as (typeof read)[0]).sentence).toBe('The request was refused.');
});

test('no record holds what was sent, nor the user or the grant (R27) [R34.2]', async () => {
  const { secret } = flow.partner;
  const code = await issue({ pkce: { challenge: 'c'.repeat(43), method: 'plain' }, nonce: 'canary-nonce' });
  const state = { state: 'canary-state', nonce: 'canary-nonce', loginHint: 'canary@example.org' };
  const records = await recordsFrom(async () => {
    await outcomeOf(exchange(code, { codeVerifier: 'canary'.padEnd(43, 'v') }));
    await outcomeOf(exchange(code, { redirectUri: 'https://canary.example/' }));
    await outcomeOf(request({ grantType: 'refresh_token', refreshToken: code }));
    await outcomeOf(request({ as: { clientId: secret as ClientId, secret: 'canary' } }));
    await begin({ ...state, prompt: 'none' });
    await begin({ ...state, clientId: 'canary@example.org' as ClientId }).catch(() => undefined);
    await getUserInfo(userinfo, 'canary.canary.canary').catch(() => undefined);
  });
  expect(records).toHaveLength(7);
  const kept = JSON.stringify(await sql('select * from refusals'));
  const family = code.slice(0, 22);
  for (const one of ['canary', secret, sub, family, code.slice(22), '@', 'Ada'])
    expect(kept).not.toContain(one);
});

test('requests are refused as before while the table takes no record; those come later [R34.3]', async () => {
  const { promise: isLocked, resolve: locked } = Promise.withResolvers<void>();
  const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
  const locking = identity.owner.transaction(async (queries) => {
    await queries.query({ name: 'lock', text: 'lock table refusals' }, []);
    locked();
    await isReleased;
  });
  await isLocked;
  const code = await issue();
  const refuse = () => outcomeOf(exchange(code, { redirectUri: 'https://else.example/' }));
  expect(await refuse()).toBe('invalid_grant');
  const waits =
    "select from pg_stat_activity where wait_event_type = 'Lock' and query ~ 'insert into refusals'";
  await expect.poll(() => sql(waits)).toHaveLength(1);
  expect(await refuse()).toBe('invalid_grant');
  expect((await exchange(code)).refreshToken).toBeTypeOf('string');
  release();
  await locking;
  await queue.flush();
  expect(await sql('select reason from refusals')).toEqual([
    { reason: 'code_redirect_uri' },
    { reason: 'code_redirect_uri' },
  ]);
});
