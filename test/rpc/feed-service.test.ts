// The feed by its contract, called from outside over connect-node, on a port that the gateway has no route to.
import { randomUUID } from 'node:crypto';
import { Code } from '@connectrpc/connect';
import { FeedService } from '@course-exchange/proto/feed/v1';
import { AuditService } from '@course-exchange/proto/operator/v1/audit';
import { expect, test } from 'vitest';
import { callService, refusalOf } from '../support/grpc-client.ts';
import { runningStack } from '../support/stack-file.ts';

const address = `${runningStack().operator?.catalog}`;
const feed = callService(FeedService, address);
const audit = callService(AuditService, address);
const owner = `feed-${randomUUID()}`;

function keyOf(position: number, id: string, revision: number) {
  return { position: BigInt(position), owner, id, revision: BigInt(revision) };
}

function upsert(position: number, id: string, revision: number, fields: object = {}) {
  const value = { title: 't', eventName: 'n', shortDescr: '', eventId: 'e', ...fields };
  return { ...keyOf(position, id, revision), change: { case: 'upsert', value } as const };
}

function deletion(position: number, id: string, revision: number) {
  return { ...keyOf(position, id, revision), change: { case: 'deletion', value: {} } as const };
}

type Part = { source: string; changes: ReturnType<typeof upsert | typeof deletion>[]; last?: boolean };

function apply(...parts: readonly Part[]) {
  async function* stream() {
    yield* parts;
  }
  return feed.apply(stream());
}

test('a stream is answered once, with what became of its changes and the last position', async () => {
  const source = `test:${randomUUID()}`;
  const answer = await apply(
    { source, changes: [upsert(1, 'a', 1), upsert(2, 'b', 1), deletion(3, 'b', 2)] },
    { source, changes: [upsert(7, 'a', 1)] },
  );
  // Within a batch the highest revision of a design decides; the others count as ignored.
  expect(answer).toMatchObject({ upserted: 1n, deleted: 1n, ignored: 2n, position: 7n });
  expect((await feed.getResumePoint({ source })).position).toBe(7n);
  await apply({ source, changes: [], last: true });
  expect((await feed.getResumePoint({ source })).position).toBe(0n);
});

test('a slow stream is written while it is still open', async () => {
  const source = `test:${randomUUID()}`;
  const seen = Promise.withResolvers<void>();
  async function* stream() {
    yield { source, changes: [upsert(1, 'slow', 1)] };
    await seen.promise;
  }
  const answer = feed.apply(stream());
  await expect.poll(async () => (await feed.getResumePoint({ source })).position).toBe(1n);
  seen.resolve();
  expect(await answer).toMatchObject({ upserted: 1n });
});

const neither = { ...upsert(4, 'x', 1), change: { case: undefined } } as never;
test.each([
  ['updatedAt is not a time', upsert(4, 'x', 1, { updatedAt: 'ä' })],
  ['neither an upsert nor a deletion', neither],
])('a change is refused with its position and "%s"; its batch is not applied', async (sentence, bad) => {
  const source = `test:${randomUUID()}`;
  const refusal = await refusalOf(apply({ source, changes: [upsert(1, 'whole or not', 1), bad] }));
  expect(refusal).toMatchObject({ status: Code.InvalidArgument, errorCode: 'invalid_argument' });
  expect(refusal.sentences.join()).toMatch(new RegExp(`^The change at position 4.* ${sentence}`));
  expect((await feed.getResumePoint({ source })).position).toBe(0n);
});

test('a time in year 0 as written and in year 1 in UTC is taken, with the changes beside it', async () => {
  const value = { eventDate: '0000-12-31T23:30:00-01:00', updatedAt: '2026-05-01T00:00:00+23:59' };
  const changes = [upsert(1, 'before', 1), upsert(2, 'old', 1, value), upsert(3, 'after', 1)];
  expect(await apply({ source: '', changes })).toMatchObject({ upserted: 3n });
});

test('positions ascend, and a stream has one source', async () => {
  const sentencesOf = async (...parts: Part[]) => (await refusalOf(apply(...parts))).sentences;
  expect(await sentencesOf({ source: '', changes: [upsert(1, 'x', 1), upsert(1, 'y', 1)] })).toEqual([
    'Position 1 comes after 1: positions ascend from 1.',
  ]);
  const parts = ['one', 'two'].map((source, index) => ({ source, changes: [upsert(index + 1, 'x', 1)] }));
  expect(await sentencesOf(...parts)).toEqual(['A stream has one source; this one changed it.']);
});

test('the name of a source has 255 bytes at most', async () => {
  const [longest, longer] = [`${randomUUID()}${'x'.repeat(219)}`, 'ü'.repeat(128)];
  expect(await apply({ source: longest, changes: [] })).toMatchObject({ position: 0n });
  expect(await refusalOf(apply({ source: longer, changes: [] }))).toMatchObject({
    status: Code.InvalidArgument,
    sentences: ['The name of the source is too long or holds U+0000.'],
  });
});

test('an import is found in the audit log, which can be checked; a write without a name is refused', async () => {
  const source = `test:${randomUUID()}`;
  const requestId = randomUUID();
  async function* stream() {
    yield { source, changes: [upsert(1, 'audited', 1)], last: true };
  }
  await feed.apply(stream(), { headers: { 'x-operator': 'anna', 'x-request-id': requestId } });
  const { entries } = await audit.listAuditEntries({ filter: { object: `source:${source}` } });
  expect(entries).toMatchObject([{ actor: 'local:anna', requestId, change: { action: 'designs.apply' } }]);
  expect((await audit.verifyAudit({})).intact).toBe(true);
  const nameless = { headers: { 'x-operator': '' } };
  const denied = { status: Code.PermissionDenied, errorCode: 'permission_denied' };
  expect(await refusalOf(feed.apply(stream(), nameless))).toMatchObject(denied);
  expect(await refusalOf(Array.fromAsync(feed.verify({ repair: true }, nameless)))).toMatchObject(denied);
  expect(await refusalOf(audit.listAuditEntries({}, nameless))).toMatchObject(denied);
});
