import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import type { ConnectRouter } from '@connectrpc/connect';
import {
  Endpoint,
  type ListRefusalsRequest,
  type RefusalSchema,
  RefusalService,
} from '@course-exchange/proto/operator/v1/refusal';
import { expect, test } from 'vitest';
import { run, runAgainst } from '../testing/run.ts';

type Refusal = MessageInitShape<typeof RefusalSchema>;

const at = Date.parse('2026-11-20T11:59:00.123Z');
const requestId = 'checkout-1';
const reused = {
  requestId,
  at: timestampFromMs(at),
  endpoint: Endpoint.TOKEN,
  clientId: 'acme',
  clientAuthenticated: true,
  code: 'invalid_grant',
  reason: 'refresh_token_reused',
  user: 'hash-of-user',
  family: 'hash-of-grant',
  earlier: { requestId: 'checkout-0', at: timestampFromMs(at - 4_200) },
  sentence: 'It was replaced.',
  duty: 'S5.lifetime',
  partnerDoes: 'Start a new flow.',
  operatorLooks: 'Others.',
};
const claimed = {
  requestId,
  at: timestampFromMs(at + 5),
  endpoint: Endpoint.AUTHORIZATION,
  clientId: 'beta',
  code: 'invalid_scope',
  reason: 'unknown_scope',
  sentence: 'A scope is unknown.',
  partnerDoes: 'Ask for others.',
  operatorLooks: 'Nothing.',
};

/** A service that has these, newest first, and keeps to `pageSize`. */
function serviceWith(refusals: readonly Refusal[], asked: ListRefusalsRequest[] = []) {
  return (router: ConnectRouter) =>
    router.service(RefusalService, {
      listRefusals: (request) => {
        asked.push(request);
        const start = Number(request.pageToken);
        const end = start + request.pageSize;
        const nextPageToken = end < refusals.length ? String(end) : '';
        return { refusals: refusals.slice(start, end), nextPageToken };
      },
    });
}

const explain = ['explain', requestId];

test('an explanation has the facts, what to forward, the duty and what is next', async () => {
  const asked: ListRefusalsRequest[] = [];
  const { exit, out, err } = await runAgainst(serviceWith([reused], asked), explain);
  expect({ exit, err }).toEqual({ exit: 0, err: '' });
  expect(out).toBe(`Request   checkout-1
Time      2026-11-20T11:59:00.123Z
Endpoint  token
Client    acme
Answer    invalid_grant
Reason    refresh_token_reused
User      hash-of-user
Grant     hash-of-grant
Earlier   2026-11-20T11:58:55.923Z, request checkout-0

For the partner acme:
It was replaced. Start a new flow.

Duty       specification S5.lifetime
Look next  Others.
`);
  expect(asked).toMatchObject([{ requestId, clientId: '', code: '' }]);
  expect(asked[0]).not.toHaveProperty('since');
});

test('a client that was only claimed is to be compared before the answer is forwarded', async () => {
  const { out } = await runAgainst(serviceWith([claimed]), explain);
  expect(out).toContain('Client    beta (claimed)\n');
  expect(out).toContain(
    "\n\nThe client was only claimed: compare the record's client with the sender before you forward this.\n\nFor the partner beta:\n",
  );
  expect(out).toContain('Duty       none broken for certain\n');
  const nameless = { ...claimed, clientId: '', earlier: { at: timestampFromMs(at) } };
  const other = await runAgainst(serviceWith([nameless]), explain);
  expect(other.out).toContain('Client    –\n');
  expect(other.out).toContain('Earlier   2026-11-20T11:59:00.123Z, request not known\n');
  expect(other.out).toContain('No client was named: compare time and endpoint with the mail');
  expect(other.out).toContain('\nFor the partner:\n');
});

test('several records of an id are listed; --client and --at ask for one', async () => {
  const asked: ListRefusalsRequest[] = [];
  const both = serviceWith([claimed, reused], asked);
  expect(await runAgainst(both, explain)).toEqual({
    exit: 2,
    out: '',
    err: `The command line names more than one: 2 refusals have this id.
  - 2026-11-20T11:59:00.128Z  beta (claimed)  authorization
  - 2026-11-20T11:59:00.123Z  acme  token
Choose one with --client, --at or both.
`,
  });
  const choice = '--client acme --at 2026-11-20T11:59:00.125Z'.split(' ');
  const { out } = await runAgainst(both, [...explain, ...choice]);
  expect(out).toContain('Client    acme\n');
  const [, { clientId, since, until } = {}] = asked;
  expect({ clientId, since: since && timestampMs(since), until: until && timestampMs(until) }).toEqual({
    clientId: 'acme',
    since: at + 2 - 60_000,
    until: at + 2 + 60_001,
  });
  const later = await runAgainst(both, [...explain, '--at', '2026-11-20T11:59:00.126Z']);
  expect(later.out).toContain('Client    beta (claimed)\n');
  const same = serviceWith([{ ...claimed, at: reused.at }, reused]);
  expect((await runAgainst(same, [...explain, '--at', '1m'])).exit).toBe(2);
});

test('twenty of many records of an id are listed', async () => {
  const many = Array.from({ length: 25 }, () => reused);
  const { err } = await runAgainst(serviceWith(many), [...explain, '--json']);
  const { mistakes } = JSON.parse(err).error;
  expect(mistakes).toHaveLength(21);
  expect(mistakes[20]).toBe('and 5 more');
});

test.each(['short-1', 'x'.repeat(65), 'with space', 'umlaut-ä-1', 'esc\u001b[2Japed', '../../etc/passwd'])(
  '%j is no request id, and no service is asked',
  async (id) => {
    const { exit, err } = await run(['explain', id, '--identity', '127.0.0.1:1']);
    expect(exit).toBe(2);
    expect(err).toContain('is not a request id.\nIt has 8–64 of A–Z a–z 0–9 . _ -.\n');
    expect(err).not.toContain('\u001b');
  },
);

test('nothing in a record controls the terminal', async () => {
  const hostile = Object.fromEntries(
    Object.entries(claimed).map(([name, value]) => [
      name,
      typeof value === 'string' ? `${value}\u001b[2J\u009b\u202e` : value,
    ]),
  );
  const list = ['refusals', 'list'];
  for (const argv of [explain, list, [...explain, '--json'], [...list, '--json']]) {
    for (const records of [[hostile], [hostile, hostile]]) {
      const { out, err } = await runAgainst(serviceWith(records), argv);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: it is the control characters that are meant
      expect(out + err).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    }
  }
});

test('refusals are listed newest first, with a filter, over pages, up to the limit', async () => {
  const asked: ListRefusalsRequest[] = [];
  const many = [claimed, ...Array.from({ length: 2_500 }, () => reused)];
  const words = ['refusals', 'list', '--client', 'acme', '--code', 'invalid_grant', '--since', '1h'];
  const few = await runAgainst(serviceWith(many, asked), words);
  expect(few.err).toBe('There are more: use --limit.\n');
  expect(few.out.split('\n').slice(0, 3)).toEqual([
    'TIME                     CLIENT          ENDPOINT       CODE           REASON                REQUEST ID',
    '2026-11-20 11:59:00 UTC  beta (claimed)  authorization  invalid_scope  unknown_scope         checkout-1',
    '2026-11-20 11:59:00 UTC  acme            token          invalid_grant  refresh_token_reused  checkout-1',
  ]);
  expect(asked).toMatchObject([{ clientId: 'acme', code: 'invalid_grant', pageSize: 101 }]);
  expect(asked[0]?.since && timestampMs(asked[0].since)).toBe(Date.parse('2026-11-20T11:00:00Z'));
  const all = await runAgainst(serviceWith(many), [...words, '--limit', '3000', '--json']);
  expect(all.err).toBe('');
  const { refusals, more } = JSON.parse(all.out);
  expect(refusals).toHaveLength(2_501);
  expect(more).toBe(false);
  expect(refusals[0]).toEqual({
    requestId,
    at: '2026-11-20T11:59:00.128Z',
    endpoint: 'authorization',
    clientId: 'beta',
    code: 'invalid_scope',
    reason: 'unknown_scope',
    sentence: 'A scope is unknown.',
  });
  expect((await runAgainst(serviceWith([]), words)).out).toBe('None.\n');
});
