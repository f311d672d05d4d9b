import { describe, expect, test } from 'vitest';
import { check, type Operation, type Outage, type SecretId, type Span } from './checker.ts';
import { type FaultName, type Kind, type PartName, table } from './table.ts';

type Word = 'good' | 'refused' | 'unavailable' | 'none' | '500 server_error';
type Said = Partial<Record<'sends' | 'brings' | 'person', string>>;

/** An operation from one second to another one. */
function op(
  kind: Kind | 'withdrawal',
  [from, to]: [number, number],
  answer: Word,
  said: Said = {},
): Operation {
  const { sends, brings, person } = said;
  return {
    kind,
    answer,
    person,
    called: from * 1_000,
    answered: to * 1_000,
    presents: sends as SecretId | undefined,
    brings: brings as SecretId | undefined,
  };
}

/** The fault, struck at once: to be healed at `healing`, over at `over`, in seconds. */
function outage(part: PartName, fault: FaultName, begun: number, healing: number, over = healing): Outage {
  const rows = Object.values(table).flat();
  const row = rows.find((one) => one.part === part && one.fault === fault);
  if (row === undefined) throw new Error(`No row for ${part} ${fault}.`);
  return { row, begun: begun * 1_000, struck: begun * 1_000, healing: healing * 1_000, over: over * 1_000 };
}

/** Ann's code at 0.1 s, and its first token at 0.2 s. */
const login = op('login', [0, 0.1], 'good', { brings: 'code', person: 'ann' });
const exchange = op('exchange', [0.1, 0.2], 'good', { sends: 'code', brings: 't1' });
const refresh = (span: [number, number], answer: Word, sends = 't1', brings?: string) =>
  op('refresh', span, answer, brings === undefined ? { sends } : { sends, brings });
const spent = refresh([1, 1.1], 'good', 't1', 't2');
const withdrawal = (span: [number, number], answer: Word, person = 'ann') =>
  op('withdrawal', span, answer, { person });
const replay = (span: [number, number], answer: Word = 'refused') =>
  op('exchange', span, answer, { sends: 'code' });

/** What is broken by these operations after the exchange, and which of them breaks it. */
function broken(
  more: readonly Operation[],
  outages: readonly Outage[] = [],
  stalls: readonly Span[] = [],
): readonly string[] {
  const operations = [login, exchange, ...more].toSorted((one, other) => one.answered - other.answered);
  const found = check({ operations, outages, stalls });
  return found.map((one) => `${one.rule}: ${one.rule === 'end' ? 0 : more.indexOf(one.operation)}`);
}

/** Refreshes are unavailable and may have happened from 2 s to 5 s; from 2 s to 5 s they surely have not. */
const redisKilled = outage('redis', 'killed', 2, 5);
const postgresKilled = outage('postgres', 'killed', 2, 5);
const gatewayKilled = outage('gateway', 'killed', 2, 5);

describe('planted violations', () => {
  test('a token that is accepted twice, at once or later', () => {
    expect(broken([spent, refresh([1.05, 1.2], 'good', 't1', 't3')])).toContain('one success: 1');
    expect(broken([spent, refresh([9, 9.1], 'good', 't1', 't3')])).toContain('one success: 1');
    expect(broken([replay([3, 3.1], 'good')])).toContain('one success: 0');
  });

  test('a token that is accepted after it was refused, also when a lost request spent it', () => {
    const unanswered = refresh([3, 3.1], 'unavailable');
    const later = [unanswered, refresh([6, 6.1], 'refused'), refresh([7, 7.1], 'good', 't1', 't2')];
    expect(broken(later, [redisKilled])).toEqual(['spent: 2']);
    expect(broken(later, [outage('redis', 'replaced by its replica', 2, 5)])).toEqual(['spent: 2']);
    expect(broken(later, [redisKilled, outage('redis', 'killed', 6.5, 6.6)])).toEqual(['spent: 2']);
  });

  test('an acknowledged successor that is refused', () => {
    expect(broken([spent, refresh([2, 2.1], 'refused', 't2')])).toEqual(['successor: 1']);
    expect(broken([refresh([1, 1.1], 'refused')])).toEqual(['successor: 0']);
    expect(broken([spent, refresh([3, 3.1], 'refused', 't2')], [redisKilled])).toEqual(['successor: 1']);
  });

  test('a successor that neither of two senders gets, or a token that is refused before another has sent it', () => {
    const both = [refresh([1, 1.1], 'refused'), refresh([1, 1.2], 'refused')];
    expect(broken(both)).toEqual(['successor: 0', 'successor: 1']);
    const later = refresh([1.2, 1.3], 'good', 't1', 't2');
    expect(broken([refresh([1, 1.1], 'refused'), later])).toContain('successor: 0');
  });

  test('a token that is gone after a failure that spends none', () => {
    const gone = [refresh([3, 3.1], 'unavailable'), refresh([6, 6.1], 'refused')];
    expect(broken(gone, [postgresKilled])).toEqual(['successor: 1']);
    expect(broken(gone)).toContain('table: 0');
  });

  test('a token or code that lives on after a withdrawal', () => {
    const refreshed = refresh([2.1, 2.2], 'good', 't1', 't2');
    expect(broken([withdrawal([1, 2], 'good'), refreshed])).toEqual(['revoked: 1']);
    const other = op('authorize', [0.3, 0.4], 'good', { brings: 'code 2', person: 'ann' });
    const late = op('exchange', [2.1, 2.2], 'good', { sends: 'code 2', brings: 't9' });
    expect(broken([other, withdrawal([1, 2], 'good'), late])).toEqual(['revoked: 2']);
  });

  test('a withdrawal that is not acknowledged while all is well', () => {
    const failed = [30, 40].map((at) => withdrawal([at, at + 1], 'none'));
    expect(broken(failed, [redisKilled, outage('design-catalog', 'killed', 29, 45)])).toEqual(['table: 0']);
    const agreed = op('authorize', [35, 35.1], 'good', { brings: 'code 2', person: 'ann' });
    expect(broken([agreed, ...failed], [redisKilled])).toEqual(['table: 1', 'table: 2']);
    expect(broken(failed, [outage('identity', 'killed', 20, 28)])).toEqual([]);
    expect(broken(failed, [], [{ from: 30_500, to: 30_900 }])).toEqual([]);
  });

  test('a token that lives on after its code was sent again', () => {
    expect(broken([replay([1, 1.1]), refresh([2, 2.1], 'good', 't1', 't2')])).toEqual(['revoked: 1']);
    expect(broken([replay([1, 1.1]), refresh([1.05, 1.2], 'good', 't1', 't2')])).toEqual([]);
    expect(broken([replay([700, 701]), refresh([702, 703], 'good', 't1', 't2')])).toEqual([]);
  });

  test('a token that is refused for what has not revoked it: too early, too late, of somebody else', () => {
    const refused = refresh([1, 1.1], 'refused');
    expect(broken([refused, replay([2, 2.1])])).toEqual(['successor: 0']);
    expect(broken([replay([700, 701]), refresh([702, 703], 'refused')])).toEqual(['successor: 1']);
    expect(broken([withdrawal([0.3, 0.4], 'good', 'ben'), refused])).toEqual(['successor: 1']);
    expect(broken([withdrawal([-2, -1], 'good'), refused])).toEqual(['successor: 1']);
    expect(broken([withdrawal([-2, -1], 'none'), refused])).toEqual([]);
    expect(broken([withdrawal([-40, -39], 'none'), refused])).toEqual(['successor: 1']);
    expect(broken([withdrawal([-2, -1], 'good'), refresh([1, 1.1], 'good', 't1', 't2')])).toEqual([]);
  });

  test('a code that is refused within its five minutes', () => {
    const second = op('authorize', [1, 1.1], 'good', { brings: 'code 2', person: 'ann' });
    const late = (at: number) => op('exchange', [at, at + 0.1], 'refused', { sends: 'code 2' });
    expect(broken([second, late(200)])).toEqual(['successor: 1']);
    expect(broken([second, late(302)])).toEqual([]);
  });

  test('an answer that the table does not allow, and more failures than a row allows in all', () => {
    expect(broken([op('events', [1, 1.1], 'unavailable')])).toEqual(['table: 0']);
    expect(broken([op('events', [1, 1.1], 'unavailable')], [postgresKilled])).toEqual(['table: 0']);
    expect(broken([op('events', [3, 3.1], 'unavailable')], [redisKilled])).toEqual(['table: 0']);
    for (const answer of ['500 server_error', 'none', 'refused'] as const)
      expect(broken([op('events', [3, 3.1], answer)], [postgresKilled])).toEqual(['table: 0']);
    const failed = Array.from({ length: 16 }, () => op('events', [3, 3.1], 'unavailable'));
    expect(broken(failed, [outage('release', 'upgraded', 2, 30)])).toEqual(['table: 15']);
  });

  test('an operation that goes well while a part that it needs is away', () => {
    expect(broken([op('events', [3, 3.1], 'good')], [postgresKilled])).toEqual(['table: 0']);
    for (const edge of [1.9, 4.9])
      expect(broken([op('events', [edge, edge + 0.2], 'good')], [postgresKilled])).toEqual([]);
  });

  test('a failure later than a fault may be felt: after its end, or though a twin is there', () => {
    expect(broken([op('events', [7.9, 8], 'unavailable')], [postgresKilled])).toEqual([]);
    expect(broken([op('events', [8.1, 8.2], 'unavailable')], [postgresKilled])).toEqual(['table: 0']);
    const frozen = outage('identity', 'frozen', 2, 30);
    expect(broken([op('user-info', [6.9, 8], 'unavailable')], [frozen])).toEqual([]);
    expect(broken([op('user-info', [7.1, 8], 'unavailable')], [frozen])).toEqual(['table: 0']);
  });

  test('an answer that takes too long', () => {
    expect(broken([op('events', [3, 5.01], 'unavailable')], [postgresKilled])).toEqual(['time: 0']);
    const slow = op('login', [20, 30.01], 'good', { person: 'ann', brings: 'code 2' });
    expect(broken([slow])).toEqual(['time: 0']);
    const stalls = [{ from: 3_000, to: 3_200 }];
    expect(broken([op('events', [3, 5.01], 'unavailable')], [postgresKilled], stalls)).toEqual([]);
    expect(broken([op('events', [3, 5.21], 'unavailable')], [postgresKilled], stalls)).toEqual(['time: 0']);
    expect(broken([op('events', [3, 9], 'none')], [gatewayKilled])).toEqual([]);
  });

  test('a fault that ends later than its row allows', () => {
    const endsIn = (seconds: number) => [outage('redis', 'killed', 2, 5, 5 + seconds)];
    expect(broken([], endsIn(15))).toEqual([]);
    expect(broken([], endsIn(15.1))).toEqual(['end: 0']);
    expect(broken([], endsIn(15.1), [{ from: 6_000, to: 6_200 }])).toEqual([]);
    expect(broken([], endsIn(15.1), [{ from: 4_000, to: 4_200 }])).toEqual(['end: 0']);
  });
});

describe('legal histories', () => {
  const unanswered = (answer: Word) => refresh([3, 4], answer);
  const both = [['unavailable', redisKilled] as const, ['none', gatewayKilled] as const];

  test.each(both)('an operation that was %s has happened', (answer, fault) => {
    expect(broken([unanswered(answer), refresh([6, 6.1], 'refused')], [fault])).toEqual([]);
    // A request may be on its way for long.
    const overtaken = [unanswered(answer), refresh([6, 6.1], 'unavailable'), refresh([8.5, 8.6], 'refused')];
    expect(broken(overtaken, [fault, outage('redis', 'cut off', 5.9, 6.2)])).toEqual([]);
  });

  test.each(both)('an operation that was %s has not happened', (answer, fault) => {
    const again = [unanswered(answer), refresh([6, 6.1], 'good', 't1', 't2'), refresh([7, 7.1], 'refused')];
    expect(broken(again, [fault])).toEqual([]);
  });

  test('a token sent twice: one success, in whatever order the answers come', () => {
    expect(broken([refresh([1, 1.1], 'good', 't1', 't2'), refresh([1, 1.2], 'refused')])).toEqual([]);
    expect(broken([refresh([1, 1.2], 'good', 't1', 't2'), refresh([1, 1.1], 'refused')])).toEqual([]);
  });

  test('a code sent twice: one success, and its token is dead', () => {
    expect(broken([replay([0.1, 0.15]), refresh([1, 1.1], 'refused')])).toEqual([]);
    const again = [replay([3, 3.1], 'unavailable'), refresh([6, 6.1], 'refused')];
    expect(broken(again, [redisKilled])).toEqual([]);
  });

  test('a withdrawal that is under way, or was not answered', () => {
    const rotated = [outage('signing keys', 'rotated', 1, 2)];
    const refreshed = (at: number) => refresh([at, at + 0.1], 'good', 't1', 't2');
    for (const answer of ['good', 'none'] as const) {
      expect(broken([withdrawal([1, 2], answer), refresh([1.5, 1.6], 'refused')], rotated)).toEqual([]);
      expect(broken([withdrawal([1, 2], answer), refreshed(1.5)], rotated)).toEqual([]);
    }
    expect(broken([withdrawal([1, 2], 'none'), refreshed(2.1)], rotated)).toEqual([]);
    expect(broken([refresh([1.5, 1.6], 'refused'), withdrawal([1.7, 2], 'good')])).toEqual(['successor: 0']);
  });

  test('a promoted replica that never had what was not acknowledged', () => {
    const history = [
      refresh([3, 3.5], 'unavailable'),
      refresh([3.6, 3.7], 'refused'),
      refresh([9, 9.1], 'good', 't1', 't2'),
    ];
    const promoted = { ...outage('redis', 'replaced by its replica', 2, 8), struck: 4_000 };
    expect(broken(history, [promoted])).toEqual([]);
    const code = (span: [number, number], answer: Word, brings?: string) =>
      op('exchange', span, answer, { sends: 'code 2', ...(brings && { brings }) });
    const exchanges = [
      op('authorize', [1, 1.1], 'good', { brings: 'code 2', person: 'ann' }),
      code([3, 3.5], 'unavailable'),
      code([3.6, 3.7], 'refused'),
      code([9, 9.1], 'good', 't9'),
    ];
    expect(broken([...exchanges, refresh([10, 10.1], 'good', 't9', 't10')], [promoted])).toEqual([]);
  });

  test('refusals of a stalled machine, and tokens spent by them', () => {
    const stalls = [{ from: 3_000, to: 3_400 }];
    expect(broken([refresh([3.1, 4], 'unavailable'), refresh([9, 9.1], 'refused')], [], stalls)).toEqual([]);
    const moment = [{ from: 3_000, to: 3_290 }];
    expect(broken([refresh([3.1, 4], 'unavailable')], [], moment)).toEqual(['table: 0']);
    expect(broken([refresh([3.1, 4], '500 server_error')], [], stalls)).toEqual(['table: 0']);
    for (const at of [2, 6.5])
      expect(broken([refresh([at, at + 0.5], 'unavailable')], [], stalls)).toEqual(['table: 0']);
  });
});
