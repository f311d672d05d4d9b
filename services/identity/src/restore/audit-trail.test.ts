// What ended, as the audit trail says: in the order of the log, whatever its writers' clocks said.
import { expect, test } from 'vitest';
import { type AuditedTransaction, continuationOf, type Ending, endingsOf } from './audit-trail.ts';

const head = { sequence: 5, hash: 'head' };
/** The entries of the restored log that the lines name. */
const entries = new Map([
  ['earlier', 3],
  ['head', 5],
]);

/** `previous` and `at` make its hash; `ending` is an action and an object. */
function line(sequence: number, previous: string, at: number, ending: string): AuditedTransaction {
  const [action = '', object = ''] = ending.split(' ');
  return {
    sequence,
    previous,
    hash: `${previous}.${at}`,
    at,
    endings: [{ action, object }],
    isProven: false,
  };
}

const proven = (one: AuditedTransaction): AuditedTransaction => ({ ...one, isProven: true });

const textOf = ({ action, object }: Ending) => `${action} ${object}`;

const ended = (...trail: readonly AuditedTransaction[]) =>
  continuationOf(trail, head, entries).endings.map(textOf);

test('the sequence gives the order of one log, not the clocks of the pods, also for lines that came twice', () => {
  const on = line(6, 'head', 3_000, 'user.disable user:a');
  const off = line(7, on.hash, 2_000, 'user.enable user:a');
  const again = line(8, off.hash, 1_000, 'user.disable user:a');
  expect(ended(again, on, off)).toEqual(['user.disable user:a']);
  expect(ended(on, off)).toEqual([]);
  expect(ended(off, again, on, off, on)).toEqual(['user.disable user:a']);
});

test('a missing line shows by the last that follows and the first that does not', () => {
  const [six, seven] = [line(6, 'head', 1, 'a b'), line(7, 'head.1', 2, 'a b')];
  const [eight, nine] = [line(8, 'head.1.2', 3, 'a b'), line(9, 'head.1.2.3', 4, 'a b')];
  const seen = (...trail: readonly AuditedTransaction[]) => {
    const { isWhole, last, parted } = continuationOf(trail, head, entries);
    return [isWhole, last?.sequence, parted?.sequence];
  };
  expect(seen(nine, eight, seven, six)).toEqual([true, 9, undefined]);
  expect(seen(nine, six, seven)).toEqual([false, 7, 9]);
  expect(seen(nine, eight)).toEqual([false, undefined, 8]);
});

test('lines that end before the restored log are whole if its next entry follows their last one', () => {
  const isWhole = (named: readonly (readonly [string, number])[], ...trail: readonly AuditedTransaction[]) =>
    continuationOf(trail, head, new Map(named)).isWhole;
  const lost = line(4, 'earlier', 1, 'a b');
  expect(isWhole([['head', 5]])).toBe(true);
  expect(isWhole([['earlier', 3]])).toBe(false);
  expect(isWhole([['earlier', 3]], lost)).toBe(true);
  expect(
    isWhole(
      [
        ['earlier', 3],
        ['later', 4],
      ],
      lost,
    ),
  ).toBe(false);
  expect(isWhole([])).toBe(false);
});

test('the later of the logs that restores began decides, also a shorter one', () => {
  const first = line(6, 'head', 1_000, 'client.deactivate client:a');
  const second = line(7, first.hash, 2_000, 'client.deactivate client:a');
  const restored = line(6, 'head', 3_000, 'client.activate client:a');
  expect(ended(restored, second, first)).toEqual([]);
  const older = line(7, first.hash, 4_000, 'client.deactivate client:a');
  expect(ended(older, restored, second, first)).toEqual(['client.deactivate client:a']);
});

test('the log of a restore that was undone brings nothing back', () => {
  const kept = line(6, 'head', 1_000, 'client.edit client:b');
  const abandoned = line(6, 'head', 2_000, 'client.deactivate client:a');
  const activated = line(7, abandoned.hash, 2_500, 'client.activate client:a');
  const after = line(7, kept.hash, 3_000, 'client.deactivate client:a');
  expect(ended(kept, abandoned, activated, after)).toEqual(['client.deactivate client:a']);
  const before = line(6, 'head', 1_000, 'client.deactivate client:a');
  const alone = line(6, 'head', 2_000, 'client.activate client:a');
  const last = line(7, before.hash, 3_000, 'client.edit client:b');
  expect(ended(before, alone, last)).toEqual(['client.deactivate client:a']);
  expect(ended(before, alone)).toEqual([]);
});

test('an entry of a newer version hides no ending', () => {
  const off = line(6, 'head', 1_000, 'user.disable user:a');
  expect(ended(off, line(7, off.hash, 2_000, 'user.lock user:a'))).toEqual(['user.disable user:a']);
});

test('a suspended secret stays so until it is resumed, and a retired one is not made resumable', () => {
  const suspended = line(6, 'head', 1_000, 'secret.suspend secret:a');
  const resumed = line(7, suspended.hash, 2_000, 'secret.resume secret:a');
  expect(ended(suspended)).toEqual(['secret.suspend secret:a']);
  expect(ended(suspended, resumed)).toEqual([]);
  const retired = line(6, 'head', 500, 'secret.retire secret:a');
  expect(ended(retired, suspended)).toEqual(['secret.retire secret:a']);
});

test('a client that lost its activation with its approval was deactivated', () => {
  const lowered = (...fields: readonly { readonly field: string; readonly after: string }[]) =>
    endingsOf([{ action: 'client.approval', object: 'client:a', fields }], (sub) => sub).map(textOf);
  const approval = { field: 'approval_state', after: '"test"' };
  expect(lowered(approval, { field: 'active', after: 'false' })).toEqual(['client.deactivate client:a']);
  expect(lowered(approval)).toEqual([]);
});

test('the proven entries of a transaction replace its log line; a line that none proves is named', () => {
  const six = proven(line(6, 'head', 1, 'secret.retire secret:a'));
  const seven = proven(line(7, six.hash, 2, 'user.disable user:by-the-later-key'));
  const both = [...six.endings, { action: 'user.disable', object: 'user:by-the-earlier-key' }];
  const logged = { ...seven, previous: 'head', endings: both, isProven: false };
  const newer = { action: 'user.lock', object: 'user:a' };
  const eight = line(8, seven.hash, 3, 'client.deactivate client:b');
  for (const trail of [
    [six, seven, logged, eight],
    [eight, logged, { ...logged, endings: [newer, ...both] }, seven, seven, six],
  ]) {
    const { unproven, provenEntries, endings } = continuationOf(trail, head, entries);
    expect({ unproven, provenEntries }).toEqual({ unproven: [8], provenEntries: 2 });
    expect(endings.map(({ object }) => object)).toEqual(['secret:a', 'user:by-the-later-key', 'client:b']);
  }
  // One of its two entries is missing.
  expect(continuationOf([seven, logged, eight], head, entries)).toMatchObject({
    isWhole: true,
    unproven: [7, 8],
    provenEntries: 0,
  });
});

test('two lines of one entry that differ in what ended are refused', () => {
  const six = proven(line(6, 'head', 1, 'secret.retire secret:a'));
  const logged = { ...six, isProven: false };
  for (const endings of [
    [],
    [{ action: 'secret.suspend', object: 'secret:a' }],
    [{ action: 'secret.retire', object: 'secret:b' }],
    [...six.endings, { action: 'user.enable', object: 'user:a' }],
  ])
    for (const trail of [
      [six, { ...logged, endings }],
      [logged, { ...logged, endings }],
    ])
      expect(() => continuationOf(trail, head, entries)).toThrow(
        expect.objectContaining({ detail: expect.stringContaining('Two lines of entry 6 differ') }),
      );
});
