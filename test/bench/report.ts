// The figures as tables: printed, and written into docs/performance.md between its marks.
import { readFileSync, writeFileSync } from 'node:fs';
import { table } from '../generate/page.ts';
import { type Row, ratioOf, type Spread, spreadOf } from './measure.ts';
import { operations, type Subject } from './subject.ts';
import type { HeadOfLine, Latency, Lists, Overload } from './under-load.ts';

export interface Figures {
  readonly machine: string;
  readonly ours: Subject;
  readonly others: readonly Subject[];
  readonly rows: readonly Row[];
  readonly latencies: readonly {
    readonly row: Row;
    readonly subject: Subject;
    readonly perSecond: number;
    readonly latency: Latency;
  }[];
  readonly overloads: readonly Overload[];
  readonly lists: readonly Lists[];
  readonly headOfLine: HeadOfLine | undefined;
  readonly memory: Readonly<Record<string, number>>;
  /** Why a peer is missing, a sentence each. */
  readonly missing: readonly string[];
}

const page = new URL('../../docs/performance.md', import.meta.url);

const microseconds = (value: number): string => Math.round(value).toLocaleString('en');
const milliseconds = (value: number): string => `${value.toFixed(value < 10 ? 1 : 0)} ms`;
const rate = (perSecond: number): string => `${Math.round(perSecond).toLocaleString('en')}/s`;

function withNoise({ median, least, most }: Spread, format: (value: number) => string): string {
  return `${format(median)} (${format(least)}–${format(most)})`;
}

function costs({ ours, others, rows }: Figures): string {
  const heads = [
    'operation',
    'at a time',
    `${ours.name}, µs`,
    ...others.flatMap(({ name }) => [`${name}, µs`, `÷ ${name}`]),
  ];
  const lines = rows.map(({ operation, lanes, costs }) => {
    const own = costs.get(ours);
    if (!own) throw new Error(`${operation} was not measured`);
    const beside = others.flatMap((other) => {
      const cost = costs.get(other);
      if (!cost) return ['', ''];
      const ratio = withNoise(ratioOf(own, cost), (value) => value.toFixed(2));
      return [microseconds(spreadOf(cost.perRequest).median), ratio];
    });
    return [
      operations[operation],
      String(lanes),
      withNoise(spreadOf(own.perRequest), microseconds),
      ...beside,
    ];
  });
  return table(heads, lines);
}

function latencies({ latencies }: Figures): string {
  return table(
    ['operation', 'server', 'offered', 'p50', 'p99'],
    latencies.map(({ row, subject, perSecond, latency }) => [
      operations[row.operation],
      subject.name,
      rate(perSecond / 2),
      milliseconds(latency.p50),
      milliseconds(latency.p99),
    ]),
  );
}

const percent = (part: number): string => `${Math.round(100 * part)} %`;

function overloadLine({
  connections,
  offered,
  goodput,
  capacity,
  statuses,
  unsent,
  lostGrants,
}: Overload): string {
  const answers = Object.entries(statuses).map(([status, count]) =>
    status === '0' ? `none: ${count}` : `${status}: ${count}`,
  );
  return (
    `**Overload, ${connections} connections.** Ten times as many refreshes as a closed loop of 64 gets (${withNoise(capacity, rate)}), ` +
    `at most ${rate(offered)}: answered with 200 are ${withNoise(goodput, percent)} of that capacity. Answers: ${answers.join(', ')}; ` +
    `never sent, since every connection waited: ${unsent}. Refused tokens that were spent all the same: ${lostGrants}.`
  );
}

function listsLine({ readers, impatient, throughput, listMs, refusalMs, refusals }: Lists): string {
  const how = impatient ? 'ask again at once' : 'wait as long as Retry-After says';
  return (
    `**Lists of 2,000 events, ${readers} readers** who ${how}: ${withNoise(throughput, percent)} of what 8 readers get; ` +
    `a list takes ${milliseconds(listMs)}${refusals === 0 ? ', none was refused' : `, a refusal ${milliseconds(refusalMs)}`} (medians).`
  );
}

function headOfLineLine({ alone, besideReaders, samples }: HeadOfLine): string {
  return (
    `**Head of line.** 150 refreshes a second take ${milliseconds(alone.p50)} (p99 ${milliseconds(alone.p99)}) alone, ` +
    `${milliseconds(besideReaders.p50)} (p99 ${milliseconds(besideReaders.p99)}) beside four readers of 2,000 events: ` +
    `${(besideReaders.p99 / alone.p99).toFixed(1)} times its p99, of ${samples} each.`
  );
}

/** All of it, in Markdown. */
export function written(figures: Figures): string {
  const memory = Object.entries(figures.memory).map(([name, mebibytes]) => `${name} ${mebibytes} MiB`);
  return [
    figures.machine,
    ...(figures.rows.length > 0 ? [costs(figures)] : []),
    ...(figures.latencies.length > 0 ? [latencies(figures)] : []),
    ...figures.overloads.map(overloadLine),
    ...figures.lists.map(listsLine),
    ...(figures.headOfLine ? [headOfLineLine(figures.headOfLine)] : []),
    `**Resident memory** after all this: ${memory.join(', ')}.`,
    ...figures.missing,
  ].join('\n\n');
}

/** Puts the figures between the marks of the page. */
export function writePage(text: string): void {
  const before = readFileSync(page, 'utf8');
  const marks = /(<!-- measured -->\n)[\s\S]*(<!-- end -->)/;
  if (!marks.test(before)) throw new Error('docs/performance.md has no marks');
  writeFileSync(
    page,
    before.replace(marks, (_, begin: string, end: string) => `${begin}\n${text}\n\n${end}`),
  );
}
