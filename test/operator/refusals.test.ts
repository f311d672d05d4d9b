// A partner asks why: what support learns about a refused request, on a real stack.
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test, vi } from 'vitest';
import { authorizeUrl, basic, type Caller, openCaller, tokensOf } from '../support/flow.ts';
import { type Answer, send } from '../support/http.ts';
import { type Partner, runningStack } from '../support/stack-file.ts';
import { answerOf, tool } from './tool.ts';

let caller: Caller;
beforeAll(async () => {
  caller = await openCaller(runningStack());
});

interface Told {
  readonly at: string;
  readonly sentence: string;
  readonly earlier?: { readonly requestId?: string; readonly at: string };
  readonly [field: string]: unknown;
}

/** Records are written behind the answer. */
async function explained(requestId: string, ...words: string[]): Promise<Told> {
  const recorded = async () => (await tool('explain', requestId, ...words)).exit;
  await expect.poll(recorded).toBe(0);
  return (await answerOf('explain', requestId, ...words)) as unknown as Told;
}

type Form = Readonly<Record<string, string>>;

/** Posts to the token endpoint under a request id of our own. */
async function ask(
  form: Form,
  id: string,
  partner: Pick<Partner, 'clientId' | 'clientSecret'> = caller.partner,
) {
  const headers = { ...basic(partner), 'x-request-id': id };
  const answer = await send(caller.discovery.token_endpoint, { form, headers });
  expect(answer.headers['x-request-id']).toBe(id);
  return answer;
}

const refreshWith = (refresh_token: string): Form => ({ grant_type: 'refresh_token', refresh_token });
const refuses = (answer: Answer, error: string) => expect(answer.json()).toEqual({ error });
const newIds = () => [randomUUID(), randomUUID(), randomUUID()] as const;
const iso = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const span = '(less than 0\\.1|\\d+\\.\\d) s earlier';

test('a replaced refresh token is explained by the request that replaced it [R34.1]', async () => {
  const [first, second] = newIds();
  const { refresh_token } = await caller.newTokens();
  const before = Date.now();
  expect((await ask(refreshWith(refresh_token), first)).status).toBe(200);
  refuses(await ask(refreshWith(refresh_token), second), 'invalid_grant');
  const told = await explained(second);
  expect(told).toEqual({
    requestId: second,
    at: iso,
    endpoint: 'token',
    clientId: caller.partner.clientId,
    code: 'invalid_grant',
    reason: 'refresh_token_reused',
    sentence: expect.stringMatching(
      new RegExp(
        `^The refresh token was replaced ${span}, by a request whose answer your backend may have lost\\.`,
      ),
    ),
    duty: 'S5.lifetime',
    earlier: { requestId: first, at: iso },
  });
  const times = [before, Date.parse(told.earlier?.at ?? ''), Date.parse(told.at), Date.now()];
  expect(times).toEqual(times.toSorted((one, other) => one - other));
});

test('a token of two refreshes ago has no earlier request', async () => {
  const [first, second, third] = newIds();
  const { refresh_token } = await caller.newTokens();
  const next = tokensOf(await ask(refreshWith(refresh_token), first)).refresh_token;
  expect((await ask(refreshWith(next), second)).status).toBe(200);
  refuses(await ask(refreshWith(refresh_token), third), 'invalid_grant');
  const told = await explained(third);
  expect(told).not.toHaveProperty('earlier');
  expect(told.sentence).toContain('replaced more than one step ago, or was never one of this grant');
});

test('a replayed code is explained by the request that used it, its revoked token by the replay [R34.1]', async () => {
  const [exchange, replay, refresh] = newIds();
  const form = await caller.codeForm();
  const { refresh_token } = tokensOf(await ask(form, exchange));
  refuses(await ask(form, replay), 'invalid_grant');
  expect(await explained(replay)).toMatchObject({
    reason: 'code_replayed',
    sentence: expect.stringMatching(new RegExp(`^The code was used ${span}, and`)),
    duty: 'S5.flow.2',
    earlier: { requestId: exchange, at: iso },
  });
  refuses(await ask(refreshWith(refresh_token), refresh), 'invalid_grant');
  expect(await explained(refresh)).toMatchObject({
    reason: 'refresh_token_revoked',
    sentence: expect.stringMatching(new RegExp(`^The authorization code was sent a second time ${span}:`)),
    duty: 'S5.flow.2',
    earlier: { requestId: replay, at: iso },
  });
});

test('a withdrawn consent is reported as such, however often the token is sent', async () => {
  const [first, second] = newIds();
  const { refresh_token } = await caller.newTokens();
  const { email } = caller.user;
  await answerOf('consent', 'withdraw', '--user', email, '--client', caller.partner.clientId, '--yes');
  for (const [id, reason] of [
    [first, 'consent_withdrawn'],
    [second, 'revoked'],
  ] as const) {
    refuses(await ask(refreshWith(refresh_token), id), 'invalid_grant');
    const told = await explained(id);
    expect(told.reason).toBe(`refresh_token_${reason}`);
    expect(told.sentence).toMatch(/^The user's consent was withdrawn/);
    expect(told).not.toHaveProperty('duty');
  }
});

/** Sends until a record is left: a test before this one may have used up the minute's quota of strangers. */
function explainedSoon(refuse: (id: string) => Promise<void>): Promise<Told> {
  const refused = async () => {
    const id = randomUUID();
    await refuse(id);
    return explained(id);
  };
  return vi.waitFor(refused, { timeout: 90_000, interval: 1 });
}

test('a client that a stranger named is claimed, at the token and the authorization endpoint [R34.1]', async () => {
  const { clientId } = caller.partner;
  const address = authorizeUrl(caller.discovery.authorization_endpoint, caller.partner, { scope: 'all' });
  const rows: readonly [string, string, (id: string) => Promise<void>][] = [
    [
      'token',
      'The client secret is not valid',
      async (id) => refuses(await ask({}, id, { clientId, clientSecret: 'x'.repeat(43) }), 'invalid_client'),
    ],
    [
      'authorization',
      'A scope is none of openid, email and profile.',
      async (id) => refuses(await send(address, { headers: { 'x-request-id': id } }), 'invalid_scope'),
    ],
  ];
  for (const [endpoint, sentence, refuse] of rows) {
    const told = await explainedSoon(refuse);
    expect(told).toMatchObject({ endpoint, clientId, sentence: expect.stringContaining(sentence) });
    const { out } = await tool('explain', `${told.requestId}`);
    expect(out).toContain(`Client    ${clientId} (claimed)\n`);
    expect(out).toContain("compare the record's client with the sender before you forward this");
  }
  const told = await explainedSoon(async (id) => {
    const headers = { authorization: 'Bearer x', 'x-request-id': id };
    expect((await send(caller.discovery.userinfo_endpoint, { headers })).status).toBe(401);
  });
  expect(told).toMatchObject({ endpoint: 'userinfo', reason: 'malformed' });
  expect(told).not.toHaveProperty('clientId');
}, 300_000);

test('several refusals of one request id are listed, and --client or --at chooses', async () => {
  const id = randomUUID();
  const { partner } = caller;
  const other = runningStack().partners.find(
    ({ active, clientId }) => active && clientId !== partner.clientId,
  );
  if (!other) throw new Error('The stack has one partner alone.');
  refuses(await ask({ grant_type: 'password' }, id), 'unsupported_grant_type');
  refuses(await ask({ grant_type: 'password' }, id, other), 'unsupported_grant_type');
  await expect.poll(async () => (await tool('explain', id)).exit).toBe(2);
  const { out, err } = await tool('explain', id);
  expect(out).toBe('');
  expect(err).toMatch(/^The command line names more than one: 2 refusals have this id\.\n/);
  const lines = [...err.matchAll(/ {2}- (\S+) {2}(\S+) {2}token\n/g)].map(([, at = '', client = '']) => ({
    at,
    client,
  }));
  expect(lines.map(({ client }) => client)).toEqual([other.clientId, partner.clientId]);
  for (const { at, client } of lines) {
    expect(await answerOf('explain', id, '--client', client)).toMatchObject({ at, clientId: client });
    expect(await answerOf('explain', id, '--at', at)).toMatchObject({ at, clientId: client });
  }
  expect((await tool('explain', id, '--client', partner.clientId, '--at', '1h')).exit).toBe(5);
});

test('a request that was not refused by identity has no record: exit code 5 says where to look', async () => {
  const id = randomUUID();
  const headers = { authorization: 'Bearer x', 'x-request-id': id };
  expect((await send(`${runningStack().issuer}/api/events`, { headers })).status).toBe(401);
  const { exit, out, err } = await tool('explain', id);
  expect({ exit, out }).toEqual({ exit: 5, out: '' });
  expect(err).toContain(`No refusal of the request ${id} is recorded.\nLook for the id in the log`);
});

test('refusals are listed by client, code and time, the newest first', async () => {
  const [first, second] = newIds();
  const { clientId } = caller.partner;
  for (const id of [first, second]) refuses(await ask({ grant_type: 'x' }, id), 'unsupported_grant_type');
  await explained(first);
  await explained(second);
  const words = ['--client', clientId, '--code', 'unsupported_grant_type', '--since', '1m'];
  const { refusals } = (await answerOf('refusals', 'list', ...words)) as {
    readonly refusals: readonly Told[];
  };
  expect(refusals.slice(0, 2)).toMatchObject([{ requestId: second }, { requestId: first }]);
  expect(new Set(refusals.map((told) => `${told.clientId} ${told.code}`)).size).toBe(1);
  const none = await answerOf('refusals', 'list', '--client', 'without-refusals', '--since', '1m');
  expect(none).toEqual({ refusals: [], more: false });
});
