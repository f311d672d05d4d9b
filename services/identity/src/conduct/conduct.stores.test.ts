// What identity counts of a client (R34.4), how it is evaluated, and that no other client can spoil it.
import { createHash, randomBytes } from 'node:crypto';
import { createLogger } from '@course-exchange/runtime/process/logger';
import { carryContextAcrossAwaits, withCall } from '@course-exchange/runtime/process/request-context';
import { context, ROOT_CONTEXT } from '@opentelemetry/api';
import { beforeEach, expect, test, vi } from 'vitest';
import { answerOf, useAuthorization } from '../../../../test/stores/identity-authorization.ts';
import { addConsent, addPartner, outcomeOf } from '../../../../test/stores/identity-grant.ts';
import { openOperatorContext } from '../../../../test/stores/operator-context.ts';
import type { AuthorizationParameters } from '../authorize/request.ts';
import { deleteOldConduct } from './conduct-table.ts';
import { createConductCounters, getConduct } from './counters.ts';

carryContextAcrossAwaits();
const logger = createLogger('identity', 'error', () => {});
let failing = false;
const clock = { now: Date.now() };
/** The clock of counters and token endpoint alike: no test depends on how fast the machine is. */
const now = () => clock.now;
const conduct = createConductCounters({
  database: {
    query: (...statement) => {
      if (failing) throw new Error('Postgres is away');
      return flow.identity.database.query(...statement);
    },
  },
  now,
  logger,
});
const flow = await useAuthorization(1, { conduct, now });
const { identity, begin, newSession, exchange, refresh, issue, request } = flow;
const admin = openOperatorContext(identity);

let clientId: typeof flow.partner.clientId;
let session: string;
let sent = '';
beforeEach(async () => {
  clock.now = Date.now();
  ({ clientId } = flow.partner);
  session = await newSession();
  await addConsent(identity, flow.person.sub, clientId);
  await conduct.flush();
  await identity.sql('delete from client_conduct');
});

/** Does `work` as one request, and remembers its id in `sent`. */
async function asRequest<T>(work: () => Promise<T>): Promise<T> {
  sent = randomBytes(12).toString('hex');
  return context.with(withCall(ROOT_CONTEXT, sent, Date.now() + 10_000), work);
}

const refused = (work: () => ReturnType<typeof refresh>) => asRequest(() => outcomeOf(work()));

async function read(since?: number) {
  await conduct.flush();
  return getConduct(admin, clientId, since);
}

/** The duties with this verdict; of a broken one how often and by which request last. */
async function dutiesThat(verdict: string, since?: number) {
  const { duties } = await read(since);
  return duties
    .filter((duty) => duty.verdict === verdict)
    .map(({ duty, breaches }) => (breaches ? [duty, breaches.count, breaches.requestId] : duty));
}

const verifier = 'v'.repeat(43);
const challenge = createHash('sha256').update(verifier).digest('base64url');
const s256 = { codeChallenge: challenge, codeChallengeMethod: 'S256' };
const blameless = { ...s256, state: 's', nonce: 'n' };

/** A code as the browser brings it back. */
async function codeFor(asked: Partial<AuthorizationParameters>): Promise<string> {
  return answerOf(await begin(asked, session)).get('code') ?? '';
}

const atAuthorization = ['pkce', 's256', 'state', 'nonce'];

test('a client that does all it should keeps each duty that identity sees', async () => {
  expect(await dutiesThat('not_visible')).toEqual(['callback', 'id_token', 'account_key', 'token_storage']);
  expect((await dutiesThat('not_seen')).slice(0, 4)).toEqual(atAuthorization);
  const { refreshToken } = await exchange(await codeFor(blameless), { codeVerifier: verifier });
  expect(await dutiesThat('kept')).toEqual([...atAuthorization, 'code_once']);
  await refresh(refreshToken);
  const ofRefresh = ['token_replaced', 'refreshes_serialized', 'scope_within_grant'];
  expect(await dutiesThat('kept')).toEqual([...atAuthorization, 'code_once', ...ofRefresh]);
  expect(await dutiesThat('not_seen')).toEqual(['token_discarded']);
  expect(await dutiesThat('broken')).toEqual([]);
});

test.each([
  ['pkce', { codeChallenge: '', codeChallengeMethod: '' }, ''],
  ['s256', { codeChallenge: verifier, codeChallengeMethod: 'plain' }, verifier],
  ['s256', { codeChallenge: verifier, codeChallengeMethod: '' }, verifier],
  ['state', { state: '' }, verifier],
  ['nonce', { nonce: '' }, verifier],
])(
  'a code that was asked for without %s breaks that duty when it is redeemed',
  async (duty, lacking, codeVerifier) => {
    const code = await codeFor({ ...blameless, ...lacking });
    expect(await dutiesThat('broken')).toEqual([]);
    await asRequest(() => exchange(code, { codeVerifier }));
    expect(await dutiesThat('broken')).toEqual([[duty, 1, sent]]);
    expect(await dutiesThat('kept')).toEqual(
      expect.arrayContaining(
        atAuthorization.filter((other) => other !== duty && !(duty === 'pkce' && other === 's256')),
      ),
    );
  },
);

test('requests that are never redeemed are one number, and strangers break no duty', async () => {
  const other = await addPartner(identity);
  const stranger = { clientId, secret: other.secret };
  const code = await codeFor({ state: '', nonce: '' });
  await refused(() => exchange(code, { as: other }));
  await refused(() => exchange(code, { as: stranger }));
  const { refreshToken } = await exchange(await codeFor(blameless), { codeVerifier: verifier });
  await refused(() => refresh(refreshToken, { as: stranger }));
  await refused(() => refresh(refreshToken, { as: other }));
  expect(await dutiesThat('broken')).toEqual([]);
  expect(await read()).toMatchObject({ authorizationRequests: 2, requestsNeverRedeemed: 1 });
  await expect(getConduct(admin, 'nobody', undefined)).rejects.toMatchObject({ code: 'not_found' });
});

test('a code that is sent twice is a code replayed', async () => {
  const code = await issue();
  await exchange(code);
  expect(await refused(() => exchange(code))).toBe('invalid_grant');
  expect(await dutiesThat('broken')).toContainEqual(['code_once', 1, sent]);
});

/** A family whose first token is spent, by a refresh a second ago. */
async function spentToken(): Promise<string> {
  const { refreshToken } = await exchange(await codeFor(blameless), { codeVerifier: verifier });
  await refresh(refreshToken);
  clock.now += 1_000;
  return refreshToken;
}

test('a spent token breaks one duty, and each time after that the one to discard it', async () => {
  const token = await spentToken();
  await refused(() => refresh(token));
  expect(await dutiesThat('broken')).toEqual([['token_replaced', 1, sent]]);
  expect(await dutiesThat('kept')).toContain('token_discarded');
  const [first] = (await dutiesThat('broken')) as [unknown];
  await refused(() => refresh(token));
  await refused(() => refresh(token));
  expect(await dutiesThat('broken')).toEqual([first, ['token_discarded', 2, sent]]);
});

test('a token that was never known breaks nothing at first; of another client it is remembered apart', async () => {
  const unknown = 'x'.repeat(65);
  await refused(() => refresh(unknown));
  await refused(() => refresh(unknown, { as: flow.partner }));
  expect(await dutiesThat('broken')).toEqual([['token_discarded', 1, sent]]);
  ({ clientId } = await addPartner(identity));
  expect(await dutiesThat('broken')).toEqual([]);
});

test('refreshes of one family at the same time break the duty to do one at a time, and no other', async () => {
  const { refreshToken } = await exchange(await codeFor(blameless), { codeVerifier: verifier });
  const outcomes = await Promise.all([1, 2, 3].map(() => outcomeOf(refresh(refreshToken))));
  expect(outcomes.toSorted()).toEqual(['invalid_grant', 'invalid_grant', 'tokens']);
  expect(await dutiesThat('broken')).toEqual([['refreshes_serialized', 2, expect.anything()]]);
});

test('a spent token that comes within a round trip of its replacement was sent at the same time', async () => {
  const { refreshToken } = await exchange(await codeFor(blameless), { codeVerifier: verifier });
  await refresh(refreshToken);
  clock.now += 100;
  await refused(() => refresh(refreshToken));
  expect(await dutiesThat('broken')).toEqual([['refreshes_serialized', 1, sent]]);
});

test('a scope beyond the grant is counted, one within it is not', async () => {
  const { refreshToken } = await exchange(await issue({ scopes: ['openid'] }));
  await request({ grantType: 'refresh_token', refreshToken, scope: 'openid' }).then((tokens) =>
    refused(() => request({ grantType: 'refresh_token', refreshToken: tokens.refreshToken, scope: 'email' })),
  );
  expect(await dutiesThat('broken')).toContainEqual(['scope_within_grant', 1, sent]);
});

test('counts of a day add up; the last request is named, and each day has a separate sum [R34.4]', async () => {
  const [first = '', second = '', third = ''] = [await spentToken(), await spentToken(), await spentToken()];
  const day = 86_400_000;
  await refused(() => refresh(first));
  await conduct.flush();
  await refused(() => refresh(second));
  const [last, today] = [sent, clock.now];
  expect(await dutiesThat('broken')).toEqual([['token_replaced', 2, last]]);
  clock.now -= 2 * day;
  await refused(() => refresh(third));
  expect(await dutiesThat('broken')).toEqual([['token_replaced', 3, last]]);
  expect(await dutiesThat('broken', today - day)).toEqual([['token_replaced', 2, last]]);
  await identity.sql('update client_conduct set day = day - 89');
  expect(await dutiesThat('broken')).toEqual([['token_replaced', 2, last]]);
  await deleteOldConduct(identity.database);
  expect(await identity.sql('select from client_conduct')).not.toEqual([]);
  expect(await identity.sql('select from client_conduct where day <= current_date - 90')).toEqual([]);
});

test('a request is answered without Postgres, and its counts are written later', async () => {
  failing = true;
  await exchange(await codeFor({ ...blameless, nonce: '' }), { codeVerifier: verifier });
  expect(await dutiesThat('broken')).toEqual([]);
  failing = false;
  expect((await dutiesThat('broken')).map(([duty]) => duty)).toEqual(['nonce']);
});

test('counts are in Postgres within 20 s, without a word from anybody', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  conduct.onRequest(clientId);
  vi.advanceTimersByTime(20_000);
  vi.useRealTimers();
  const written = () => identity.sql('select count from client_conduct where client_id = $1', [clientId]);
  await expect.poll(written).toEqual([{ count: '1' }]);
});
