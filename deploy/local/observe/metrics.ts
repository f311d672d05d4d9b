// The tiles of the page: what the services' metrics say now, read from /metrics as Prometheus reads it.

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Reading {
  readonly time: number;
  readonly samples: readonly Sample[];
}

const numberOf = (text = '') => Number(text.replace('Inf', 'Infinity'));

export function readSamples(process: string, text: string): readonly Sample[] {
  const lines = text.matchAll(/^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/gm);
  return [...lines].map(([, name = '', inner = '', value]) => {
    const labels = [...inner.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(
      ([, label = '', said = '']) => [label, said.replace(/\\(.)/g, '$1')] as const,
    );
    return { name, labels: { ...Object.fromEntries(labels), process }, value: numberOf(value) };
  });
}

type LineOf = (labels: Sample['labels']) => string | undefined;
export type TileValues = Readonly<Record<string, number>>;

const units = { rate: 'per second', quantiles: 'seconds', seconds: 'seconds', count: 'count' } as const;

interface Tile {
  readonly id: string;
  readonly title: string;
  readonly unit: (typeof units)[keyof typeof units];
  readonly read: (now: Reading, before: Reading) => TileValues;
}

function tile(id: string, title: string, kind: keyof typeof units, metric: string, lineOf: LineOf): Tile {
  const read = { rate, quantiles, seconds: sum, count: sum }[kind];
  return { id, title, unit: units[kind], read: (now, before) => read(metric, lineOf, now, before) };
}

const requestSeconds = 'http_server_request_duration_seconds';

export const tiles: readonly Tile[] = [
  tile('requests', 'Requests', 'rate', `${requestSeconds}_count`, (at) =>
    [at.http_request_method, at.http_route ?? '(no route)', at.http_response_status_code].join(' '),
  ),
  tile('duration', 'Duration, p99', 'quantiles', requestSeconds, () => 'p99'),
  tile(
    'refusals',
    'Refusals by code',
    'rate',
    'course_exchange_client_requests_total',
    (at) => at.error_type || undefined,
  ),
  tile(
    'stores',
    'Stores, p99',
    'quantiles',
    'db_client_operation_duration_seconds',
    (at) => `${at.db_system_name} of ${at.process}`,
  ),
  tile('calls', 'Calls, p99', 'quantiles', 'rpc_client_call_duration_seconds', (at) =>
    at.rpc_method?.replace(/^.*\//, ''),
  ),
  tile('pools', 'Connections in use', 'count', 'db_client_connection_count', (at) =>
    at.db_client_connection_state === 'used' ? at.db_client_connection_pool_name : undefined,
  ),
  tile(
    'hashing',
    'Password hashing',
    'count',
    'course_exchange_password_hashing_logins',
    ({ process, ...at }) => Object.values(at).join(' ') || 'logins',
  ),
  tile('work', 'Work admitted', 'count', 'course_exchange_work_admitted', ({ work }) => work),
  tile('loop', 'Event loop, p99', 'seconds', 'nodejs_eventloop_delay_p99_seconds', (at) => at.process),
];

function sum(metric: string, lineOf: LineOf, { samples }: Reading): TileValues {
  const sums: Record<string, number> = {};
  for (const { name, labels, value } of samples) {
    const line = name === metric ? lineOf(labels) : undefined;
    if (line !== undefined) sums[line] = (sums[line] ?? 0) + value;
  }
  return sums;
}

/** By how much counters have grown. One that fell began again with its process. */
function increase(metric: string, lineOf: LineOf, now: Reading, before: Reading): [string, number][] {
  const was = sum(metric, lineOf, before);
  return Object.entries(sum(metric, lineOf, now)).map(([line, value]) => {
    const since = value - (was[line] ?? 0);
    return [line, since < 0 ? value : since];
  });
}

function rate(metric: string, lineOf: LineOf, now: Reading, before: Reading): TileValues {
  const seconds = Math.max(1, (now.time - before.time) / 1_000);
  const grown = increase(metric, lineOf, now, before).filter(([, value]) => value > 0);
  return Object.fromEntries(grown.map(([line, value]) => [line, value / seconds]));
}

/** p99, as Prometheus' `histogram_quantile` has it; a line that has not grown has none. */
function quantiles(metric: string, lineOf: LineOf, now: Reading, before: Reading): TileValues {
  const keyOf: LineOf = (at) => JSON.stringify([lineOf(at), at.le]);
  const buckets = increase(`${metric}_bucket`, keyOf, now, before).map(([key, count]) => {
    const [line, bound] = JSON.parse(key) as [string, string];
    return { line, bound: numberOf(bound), count };
  });
  const values = [...Map.groupBy(buckets, ({ line }) => line)].map(
    ([line, own]) => [line, quantile(own, 0.99)] as const,
  );
  return Object.fromEntries(values.filter(([, value]) => value !== undefined)) as TileValues;
}

type Bucket = { readonly bound: number; readonly count: number };

function quantile(buckets: readonly Bucket[], share: number): number | undefined {
  const sorted = buckets.toSorted((a, b) => a.bound - b.bound);
  const wanted = share * (sorted.at(-1)?.count ?? 0);
  if (wanted === 0) return undefined;
  const none: Bucket = { bound: 0, count: 0 };
  const at = sorted.findIndex(({ count }) => count >= wanted);
  const [lower, upper] = [sorted[at - 1] ?? none, sorted[at] ?? none];
  if (!Number.isFinite(upper.bound)) return lower.bound;
  const place = (wanted - lower.count) / (upper.count - lower.count);
  return lower.bound + (upper.bound - lower.bound) * place;
}
