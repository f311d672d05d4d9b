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

type Labels = Sample['labels'];
/** The line of a tile to which a sample belongs. */
type LineOf = (labels: Labels, name: string) => string | undefined;
export type TileValues = Readonly<Record<string, number>>;

interface Tile {
  readonly id: string;
  readonly title: string;
  readonly unit: 'per second' | 'seconds' | 'count';
  /** Its lines name words that requests have. */
  readonly filters: boolean;
  /** What `totals` counts, where the tile has them. */
  readonly of?: string;
  readonly read: (now: Reading, before: Reading) => TileValues;
  readonly totals?: (now: Reading, before: Reading) => TileValues;
}

const one =
  (metric: string, line: (labels: Labels) => string | undefined): LineOf =>
  (labels, name) =>
    name === metric ? line(labels) : undefined;

function rates(id: string, title: string, lineOf: LineOf): Tile {
  const read: Tile['read'] = (now, before) => {
    const seconds = Math.max(1, (now.time - before.time) / 1_000);
    return Object.fromEntries(grown(lineOf, now, before).map(([line, value]) => [line, value / seconds]));
  };
  return { id, title, unit: 'per second', filters: true, read };
}

/** p99, with the number of observations that it stands on. */
function p99(id: string, title: string, metric: string, line: (labels: Labels) => string | undefined): Tile {
  const counted = one(`${metric}_count`, line);
  return {
    ...{ id, title, unit: 'seconds', filters: true, of: 'counted' },
    read: (now, before) => quantiles(one(`${metric}_bucket`, line), now, before),
    totals: (now, before) => Object.fromEntries(increase(counted, now, before)),
  };
}

/** How many of the last 30 seconds, and since the processes started. */
function events(id: string, title: string, lineOf: LineOf): Tile {
  return {
    ...{ id, title, unit: 'count', filters: true, of: 'in all' },
    read: (now, before) => Object.fromEntries(grown(lineOf, now, before)),
    totals: (now) => sum(lineOf, now),
  };
}

function gauge(id: string, title: string, lineOf: LineOf, unit: Tile['unit'] = 'count'): Tile {
  return { id, title, unit, filters: false, read: (now) => sum(lineOf, now) };
}

const keyAge = 'course_exchange_signing_key_age_seconds';
const requestSeconds = 'http_server_request_duration_seconds';
const routeOf = (at: Labels) => `${at.http_request_method} ${at.http_route ?? '(no route)'}`;
const words = (...texts: readonly (string | undefined)[]) => texts.filter(Boolean).join(': ');

/** Whatever a request was refused for, by its reason. */
const refusal: LineOf = ({ error_type = '', reason, event = '', http_route = '' }, name) => {
  const refused = /^course_exchange_(tokens|authorizations|access_tokens)_refused_total$/.exec(name)?.[1];
  if (refused) return words(error_type || 'invalid_token', reason);
  if (name === 'course_exchange_security_events_total')
    return /^login\.(refused|throttled)$/.test(event) ? words(event, reason) : undefined;
  const unavailable = ['temporarily_unavailable', 'server_error'].includes(error_type);
  const listed = name === 'course_exchange_client_requests_total' && http_route.startsWith('/api');
  return listed && unavailable ? error_type : undefined;
};

export const tiles: readonly Tile[] = [
  events('refusals', 'Refusals by reason', refusal),
  events(
    'security',
    'Security events',
    one('course_exchange_security_events_total', ({ event, reason }) => words(event, reason)),
  ),
  rates(
    'requests',
    'Requests',
    one(`${requestSeconds}_count`, (at) => `${routeOf(at)} ${at.http_response_status_code}`),
  ),
  p99('duration', 'Duration, p99', requestSeconds, routeOf),
  p99(
    'stores',
    'Stores, p99',
    'db_client_operation_duration_seconds',
    (at) => `${at.process} ${at.db_system_name}`,
  ),
  p99('calls', 'Calls, p99', 'rpc_client_call_duration_seconds', (at) => at.rpc_method?.replace(/^.*\//, '')),
  gauge('pools', 'Connections', (at, name) => {
    const pool = at.db_client_connection_pool_name;
    if (name === 'db_client_connection_pending_requests') return `${pool} waiting for one`;
    const used = name === 'db_client_connection_count' && at.db_client_connection_state === 'used';
    return used ? `${pool} in use` : undefined;
  }),
  gauge(
    'keys',
    'Keys',
    one(keyAge, ({ kid = '', state, process }) => `${kid.slice(0, 8)} ${state}, ${process}`),
    'seconds',
  ),
  gauge(
    'hashing',
    'Password hashing',
    one('course_exchange_password_hashing_logins', ({ state }) => state),
  ),
  gauge(
    'loop',
    'Event loop, p99',
    one('nodejs_eventloop_delay_p99_seconds', (at) => at.process),
    'seconds',
  ),
];

/** Which processes know the keys, and what an operator does next. */
export function keyStep({ samples }: Reading): string {
  const own = samples.filter(({ name }) => name === keyAge).map(({ labels }) => labels);
  const verified = samples.filter(({ name }) => name === 'course_exchange_key_set_keys');
  const kids = verified.map(({ labels }) => labels.kid ?? '');
  const missing = own.every(({ kid = '' }) => !kids.includes(kid));
  const staged = own.find(({ state }) => state === 'staged');
  return [
    own.some(({ state }) => state === 'active') ? '' : 'identity reports no active key.',
    missing
      ? 'design-catalog reports no key of identity.'
      : `design-catalog verifies with ${kids.map((kid) => kid.slice(0, 8)).join(' and ')}.`,
    staged
      ? `Next: partnerctl key activate ${staged.kid}, when it has been staged for 310 s.`
      : 'Next: partnerctl key rotate, when the active key is old enough.',
  ].join(' ');
}

function sum(lineOf: LineOf, { samples }: Reading): TileValues {
  const sums: Record<string, number> = {};
  for (const { name, labels, value } of samples) {
    const line = lineOf(labels, name);
    if (line !== undefined) sums[line] = (sums[line] ?? 0) + value;
  }
  return sums;
}

/** By how much counters have grown. One that fell began again with its process. */
function increase(lineOf: LineOf, now: Reading, before: Reading): [string, number][] {
  const was = sum(lineOf, before);
  return Object.entries(sum(lineOf, now)).map(([line, value]) => {
    const since = value - (was[line] ?? 0);
    return [line, since < 0 ? value : since];
  });
}

const grown: typeof increase = (...of) => increase(...of).filter(([, value]) => value > 0);

/** p99, as Prometheus' `histogram_quantile` has it; a line that has not grown has none. */
function quantiles(lineOf: LineOf, now: Reading, before: Reading): TileValues {
  const values: Record<string, number> = {};
  for (const line of Object.keys(sum(lineOf, now))) {
    const boundOf: LineOf = (at, name) => (lineOf(at, name) === line ? at.le : undefined);
    const buckets = increase(boundOf, now, before).map(([le, count]) => ({ bound: numberOf(le), count }));
    const value = quantile(buckets, 0.99);
    if (value !== undefined) values[line] = value;
  }
  return values;
}

type Bucket = { readonly bound: number; readonly count: number };

function quantile(buckets: readonly Bucket[], share: number): number | undefined {
  const sorted = buckets.toSorted((a, b) => a.bound - b.bound);
  const wanted = share * (sorted.at(-1)?.count ?? 0);
  if (wanted === 0) return undefined;
  const at = sorted.findIndex(({ count }) => count >= wanted);
  const none: Bucket = { bound: 0, count: 0 };
  const [lower, upper] = [sorted[at - 1] ?? none, sorted[at] ?? none];
  if (!Number.isFinite(upper.bound)) return lower.bound;
  const place = (wanted - lower.count) / (upper.count - lower.count);
  return lower.bound + (upper.bound - lower.bound) * place;
}
