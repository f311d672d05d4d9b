// Judges a history. Pure. Safety has no exception, whatever was done to the system: of a code or refresh token there is at
// most one success, an acknowledged successor is accepted next, what is spent or revoked stays dead. An operation without an
// answer has happened or not, now or later. The table says what else may be answered, and bounds answers and ends of faults.
import { afterStandstillMs, answerMs, type Kind, type Row, standstillMs } from './table.ts';

export type SecretId = string & { readonly kind: 'secret' };

/** Milliseconds on the clock of `performance.now()`. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface Operation {
  readonly kind: Kind | 'withdrawal';
  readonly called: number;
  /** When the answer came, or was given up. */
  readonly answered: number;
  /**
   * `good`: what an operation of its kind gets while all is well. `refused`: `invalid_grant`. `unavailable`: what R14.1 says,
   * whole. `none`: no answer. Any other by its status and code.
   */
  readonly answer: string;
  readonly presents?: SecretId | undefined;
  readonly brings?: SecretId | undefined;
  /** Who agreed, or whose consent was withdrawn. */
  readonly person?: string | undefined;
}

/** One fault as it was played. */
export interface Outage {
  readonly row: Row;
  readonly begun: number;
  /** From here on it was complete. */
  readonly struck: number;
  /** Until here. */
  readonly healing: number;
  /** Its end was observed. */
  readonly over: number;
}

export interface History {
  /** In the order of their answers. */
  readonly operations: readonly Operation[];
  readonly outages: readonly Outage[];
  /** In their order: a probe process did not run, or this one. */
  readonly stalls: readonly Span[];
}

type Rule = 'one success' | 'successor' | 'spent' | 'revoked' | 'table' | 'time';

export type Violation =
  | { readonly rule: Rule; readonly operation: Operation }
  | { readonly rule: 'end'; readonly outage: Outage };

/** Milliseconds from the issue of a code: so long it is good, and so long its use is remembered (R10.2). */
const [codeLife, codeMemory] = [300_000, 600_000];
/** By so much clocks may differ, milliseconds. */
const slack = 10_000;
/** An unanswered withdrawal takes effect within this many milliseconds or never. */
const withdrawalMs = 30_000;

/** Codes, tokens and ends of faults are checked throughout, answers and their times of what was answered from `since` on. */
export function check(history: History, since = 0): readonly Violation[] {
  const around = surroundings(history);
  const recent = history.operations.filter(({ answered }) => answered >= since);
  return [
    ...checkSecrets(history.operations, around),
    ...recent.flatMap((operation) => checkAnswer(operation, around)),
    ...history.outages.flatMap((outage) => checkNumber(outage, recent, around)),
    ...history.outages
      .filter(({ row, healing, over }) => around.ownTime(healing, over) > row.endsMs)
      .map((outage) => ({ rule: 'end', outage }) as const),
  ];
}

/** What fails beyond the number that a row allows in all, and no other row without a number may have caused. */
function checkNumber(
  outage: Outage,
  operations: readonly Operation[],
  { met, isStalled }: Surroundings,
): readonly Violation[] {
  const isIts = (causes: readonly Outage[]) =>
    causes.includes(outage) && causes.every(({ row }) => row.mostFailures !== undefined);
  const failed = operations.filter(
    (one) => ['unavailable', 'none'].includes(one.answer) && !isStalled(one) && isIts(met(one)),
  );
  return failed
    .slice(outage.row.mostFailures ?? failed.length)
    .map((operation) => ({ rule: 'table', operation }));
}

type Surroundings = ReturnType<typeof surroundings>;

function surroundings({ operations, outages, stalls }: History) {
  const lost = (from: number, to: number) =>
    stalls.reduce((sum, stall) => sum + Math.max(0, Math.min(to, stall.to) - Math.max(from, stall.from)), 0);
  const standstills = stalls.filter(({ from, to }) => to - from >= standstillMs);
  /** The length of a span, without the time that the machine stalled in it. */
  const ownTime = (from: number, to: number): number => to - from - lost(from, to);
  return {
    ...{ ownTime, operations, outages },
    /** The faults that may have met the operation, or what they left. An operator has no twin to ask instead. */
    met: ({ kind, called, answered }: Operation): readonly Outage[] =>
      outages.filter(({ row, begun, struck, over }) => {
        const settlesMs = kind === 'withdrawal' ? undefined : row.settlesMs;
        const [end, most] = settlesMs === undefined ? [over, row.recoversMs] : [struck, settlesMs];
        return answered >= begun && (called <= end || ownTime(end, called) <= most);
      }),
    /** The same of a machine that stalled by itself. */
    isStalled: ({ called, answered }: Operation): boolean =>
      standstills.some(({ from, to }) => from < answered && called < to + afterStandstillMs),
  };
}

function checkAnswer(operation: Operation, around: Surroundings): readonly Violation[] {
  const { met, isStalled, ownTime } = around;
  const { kind, called, answered, answer, presents } = operation;
  if (kind === 'withdrawal')
    return answer === 'good' || mayFail(operation, around) ? [] : [{ rule: 'table', operation }];
  const outages = met(operation);
  const mustFail = outages.some(
    ({ row, struck, healing }) => row.fails.includes(kind) && struck <= called && answered <= healing,
  );
  const failures = outages.flatMap(({ row }) =>
    [...row.fails, ...row.disturbs].includes(kind) ? row.as : [],
  );
  const allowed: readonly string[] = [
    ...(mustFail ? [] : ['good']),
    // Whether it is refused rightly, is a question of the code or token: see below.
    ...(presents === undefined ? [] : ['refused']),
    ...(isStalled(operation) ? ['unavailable'] : []),
    ...failures,
  ];
  const isLate = !allowed.includes('none') && ownTime(called, answered) > answerMs(kind);
  return [
    ...(allowed.includes(answer) ? [] : [{ rule: 'table', operation } as const]),
    ...(isLate ? [{ rule: 'time', operation } as const] : []),
  ];
}

/** A withdrawal fails during a fault of another part than design-catalog, or without a consent since the one before. */
function mayFail(asked: Operation, { operations, met, isStalled }: Surroundings): boolean {
  const earlier = operations.filter((one) => one.person === asked.person && one.answered < asked.called);
  const last = earlier.findLast(({ kind }) => kind === 'withdrawal')?.answered ?? Number.NEGATIVE_INFINITY;
  const isAgreed = earlier.some((one) => one.brings !== undefined && one.called > last);
  return !isAgreed || isStalled(asked) || met(asked).some(({ row }) => row.part !== 'design-catalog');
}

/** All that begins with one code. */
interface Family {
  /** How the code came. */
  readonly issue: Operation;
  readonly exchanges: readonly Operation[];
  /** Those of the consent of who agreed. */
  readonly withdrawals: readonly Operation[];
}

/** The use of a code or token, with all uses of it. */
interface Use extends Family {
  readonly use: Operation;
  readonly others: readonly Operation[];
}

function checkSecrets(operations: readonly Operation[], around: Surroundings): readonly Violation[] {
  const uses = Map.groupBy(operations, ({ presents }) => presents);
  const families = familiesOf(operations, uses);
  return operations.flatMap((use): readonly Violation[] => {
    const family = use.presents && families.get(use.presents);
    if (family === undefined) return [];
    const others = (uses.get(use.presents) ?? []).filter((other) => other !== use);
    return brokenRules({ use, others, ...family }, around).map((rule) => ({ rule, operation: use }));
  });
}

function brokenRules(use: Use, around: Surroundings): readonly Rule[] {
  const { answer } = use.use;
  if (answer === 'refused') return isCaused(use, around) ? [] : ['successor'];
  if (answer !== 'good') return [];
  return [
    ...(use.others.some((other) => other.answer === 'good') ? (['one success'] as const) : []),
    ...(wasDead(use, around) ? (['spent'] as const) : []),
    ...(wasRevoked(use) ? (['revoked'] as const) : []),
  ];
}

/** Whether the operation may have spent what it presented. */
function mayHaveHappened(operation: Operation, { met, isStalled }: Surroundings): boolean {
  if (operation.answer !== 'unavailable') return operation.answer !== 'refused';
  return isStalled(operation) || met(operation).some(({ row }) => row.spends);
}

/** A refusal is right when the secret was used, its family revoked or its code too old, perhaps, before the answer. */
function isCaused({ use, others, issue, exchanges, withdrawals }: Use, around: Surroundings): boolean {
  const before = ({ called }: Operation) => called < use.answered;
  const endOf = ({ answer, answered }: Operation) => answered + (answer === 'good' ? 0 : withdrawalMs);
  const age = ({ called, answered }: Operation) => (called + answered) / 2 - issue.called;
  if (others.some((other) => before(other) && mayHaveHappened(other, around))) return true;
  if (withdrawals.some((withdrawal) => before(withdrawal) && issue.called < endOf(withdrawal))) return true;
  if (use.kind === 'exchange') return age(use) > codeLife - slack;
  const replays = exchanges.filter(
    (one) => one.answer === 'refused' || (one.answer !== 'good' && mayHaveHappened(one, around)),
  );
  return replays.some((replay) => before(replay) && age(replay) < codeMemory + slack);
}

/** Whether it was refused before, and no promotion of a store has undone since what spent it. */
function wasDead({ use, others }: Use, { outages }: Surroundings): boolean {
  return others.some(
    ({ answer, called, answered }) =>
      answer === 'refused' &&
      answered < use.called &&
      !outages.some(({ row, begun, over }) => row.undoes && begun < use.called && called < over),
  );
}

/** Whether its family was surely revoked before the call: the consent withdrawn, or the code sent again (R10.2). */
function wasRevoked({ use, issue, exchanges, withdrawals }: Use): boolean {
  const before = ({ answered }: Operation) => answered < use.called;
  const begun = exchanges.find(({ answer }) => answer === 'good')?.called ?? Number.POSITIVE_INFINITY;
  const isReplay = ({ answer, answered }: Operation) =>
    answer === 'refused' && answered > begun && answered - issue.called < codeMemory - slack;
  return (
    withdrawals.some((one) => one.answer === 'good' && issue.answered < one.called && before(one)) ||
    exchanges.some((one) => isReplay(one) && before(one))
  );
}

/** The family of each code and refresh token. The answer that brings one comes before it is presented. */
function familiesOf(
  operations: readonly Operation[],
  uses: ReadonlyMap<SecretId | undefined, readonly Operation[]>,
): ReadonlyMap<SecretId, Family> {
  const withdrawals = operations.filter(({ kind }) => kind === 'withdrawal');
  const families = new Map<SecretId, Family>();
  for (const operation of operations) {
    const { presents, brings, person } = operation;
    if (brings === undefined) continue;
    const known = presents && families.get(presents);
    const begun = {
      issue: operation,
      exchanges: uses.get(brings) ?? [],
      withdrawals: withdrawals.filter((withdrawal) => withdrawal.person === person),
    };
    families.set(brings, known ?? begun);
  }
  return families;
}
