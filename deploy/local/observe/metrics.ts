// The tiles of the page: what the services' metrics say now, read from /metrics as Prometheus reads it.

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** All samples of all processes at one time, in milliseconds; `process` is a label of each. */
export interface Reading {
  readonly time: number;
  readonly samples: readonly Sample[];
}

/** Lines of Prometheus' text. */
export function readSamples(process: string, text: string): readonly Sample[] {
  return [...text.matchAll(/^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/gm)].map(
    ([, name = '', inner = '', value]) => ({
      name,
      labels: {
        ...Object.fromEntries(
          [...inner.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, said = '']) => [
            label,
            unescaped(said),
          ]),
        ),
        process,
      },
      value: Number(value?.replace('Inf', 'Infinity')),
    }),
  );
}

function unescaped(said: string): string {
  return said.replace(/\\(.)/g, (_, character: string) => (character === 'n' ? '\n' : character));
}

type Labels = Sample['labels'];
/** What a sample counts for; undefined: not for this tile. */
type LineOf = (labels: Labels) => string | undefined;
export type TileValues = Readonly<Record<string, number>>;

interface Tile {
  readonly id: string;
  readonly title: string;
  readonly unit: 'per second' | 'seconds' | 'count';
  readonly read: (now: Reading, before: Reading) => TileValues;
}

export const tiles: readonly Tile[] = [
  {
    id: 'requests',
    title: 'Requests',
    unit: 'per second',
    read: rate(
      'http_server_request_duration_seconds_count',
      (at) => `${at.http_request_method} ${at.http_route ?? '(no route)'} ${at.http_response_status_code}`,
    ),
  },
  {
    id: 'duration',
    title: 'Duration',
    unit: 'seconds',
    read: (now, before) => ({
      ...quantiles('http_server_request_duration_seconds', 0.5, () => 'p50')(now, before),
      ...quantiles('http_server_request_duration_seconds', 0.99, () => 'p99')(now, before),
    }),
  },
  {
    id: 'refusals',
    title: 'Refusals by code',
    unit: 'per second',
    read: rate('course_exchange_client_requests_total', ({ error_type }) => error_type || undefined),
  },
  {
    id: 'stores',
    title: 'Stores, p99',
    unit: 'seconds',
    read: quantiles(
      'db_client_operation_duration_seconds',
      0.99,
      (at) => `${at.db_system_name} of ${at.process}`,
    ),
  },
  {
    id: 'calls',
    title: 'Calls, p99',
    unit: 'seconds',
    read: quantiles('rpc_client_call_duration_seconds', 0.99, ({ rpc_method = '' }) =>
      rpc_method.replace(/^.*\//, ''),
    ),
  },
  {
    id: 'pools',
    title: 'Connections in use',
    unit: 'count',
    read: (now) => ({
      ...sum(now, 'db_client_connection_count', (at) =>
        at.db_client_connection_state === 'used' ? `used: ${at.db_client_connection_pool_name}` : undefined,
      ),
      ...sum(now, 'db_client_connection_pending_requests', () => 'waiting'),
    }),
  },
  {
    id: 'hashing',
    title: 'Password hashing',
    unit: 'count',
    read: (now) =>
      sum(
        now,
        'course_exchange_password_hashing_logins',
        ({ process, ...at }) => Object.values(at).join(' ') || 'logins',
      ),
  },
  {
    id: 'work',
    title: 'Work admitted',
    unit: 'count',
    read: (now) => sum(now, 'course_exchange_work_admitted', ({ work }) => work),
  },
  {
    id: 'loop',
    title: 'Event loop, p99',
    unit: 'seconds',
    read: (now) => sum(now, 'nodejs_eventloop_delay_p99_seconds', ({ process }) => process),
  },
];

function sum({ samples }: Reading, metric: string, lineOf: LineOf): TileValues {
  const sums: Record<string, number> = {};
  for (const { name, labels, value } of samples) {
    const line = name === metric ? lineOf(labels) : undefined;
    if (line !== undefined) sums[line] = (sums[line] ?? 0) + value;
  }
  return sums;
}

/** By how much counters have grown. One that fell began anew with its process. */
function increase(now: Reading, before: Reading, metric: string, lineOf: LineOf): TileValues {
  const was = sum(before, metric, lineOf);
  const grown = Object.entries(sum(now, metric, lineOf)).map(([line, value]) => {
    const since = value - (was[line] ?? 0);
    return [line, since < 0 ? value : since] as const;
  });
  return Object.fromEntries(grown);
}

function rate(metric: string, lineOf: LineOf) {
  return (now: Reading, before: Reading): TileValues => {
    const seconds = Math.max(1, (now.time - before.time) / 1_000);
    const grown = Object.entries(increase(now, before, metric, lineOf)).filter(([, value]) => value > 0);
    return Object.fromEntries(grown.map(([line, value]) => [line, value / seconds]));
  };
}

/** Of a histogram, as Prometheus' `histogram_quantile` has it; a line that has not grown has none. */
function quantiles(metric: string, share: number, lineOf: (labels: Labels) => string) {
  return (now: Reading, before: Reading): TileValues => {
    const grown = increase(now, before, `${metric}_bucket`, (at) => JSON.stringify([lineOf(at), at.le]));
    const lines = new Map<string, [bound: number, count: number][]>();
    for (const [key, count] of Object.entries(grown)) {
      const [line, le] = JSON.parse(key) as [string, string];
      lines.set(line, [...(lines.get(line) ?? []), [Number(le.replace('Inf', 'Infinity')), count]]);
    }
    const found = [...lines].map(([line, buckets]) => [line, quantile(buckets, share)] as const);
    return Object.fromEntries(found.filter(([, value]) => value !== undefined)) as TileValues;
  };
}

function quantile(buckets: readonly [bound: number, count: number][], share: number): number | undefined {
  const sorted = buckets.toSorted(([a], [b]) => a - b);
  const wanted = share * (sorted.at(-1)?.[1] ?? 0);
  if (wanted === 0) return undefined;
  const at = sorted.findIndex(([, count]) => count >= wanted);
  const [lower, below] = sorted[at - 1] ?? [0, 0];
  const [upper, count] = sorted[at] ?? [0, 0];
  return Number.isFinite(upper) ? lower + ((upper - lower) * (wanted - below)) / (count - below) : lower;
}
