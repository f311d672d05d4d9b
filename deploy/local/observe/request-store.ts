// The requests of the last minutes: each with the spans and the log lines of its trace. Bounded: what was refused, was
// slow or is a security event is kept apart from the other requests, and so is work that no request caused.
import type { LogLine, Span } from './telemetry.ts';

type Summary = ReturnType<typeof summarise> & { readonly slow: boolean; readonly kept: Room };

interface Entry {
  /** The trace's id; the request id where there is no trace, as for a request refused at the door. */
  readonly id: string;
  readonly spans: Span[];
  readonly lines: LogLine[];
  readonly summary: Summary;
  /** Number of the last change. */
  readonly changed: number;
}

type Room = 'notable' | 'plain' | 'background';
const limits = { notable: 5_000, plain: 5_000, background: 500, spans: 400, lines: 200 };

/** The stack's own reading of health and metrics. */
const polling = /^(?:postgres (?:audit head|schema version)|redis probe)$/;

export function openRequestStore(next: () => number, most = limits) {
  const rooms: Record<Room, Map<string, Entry>> = {
    notable: new Map(),
    plain: new Map(),
    background: new Map(),
  };
  const all = () => Object.values(rooms).flatMap((room) => [...room.values()]);
  const find = (id: string) =>
    Object.values(rooms)
      .find((room) => room.has(id))
      ?.get(id);
  const isSlow = slowness();
  const discarded: { readonly id: string; readonly changed: number }[] = [];
  let lost = 0;
  const keep = (entry: Entry): void => {
    for (const room of Object.values(rooms)) room.delete(entry.id);
    const { kept } = entry.summary;
    const [oldest] = rooms[kept].set(entry.id, entry).keys();
    if (rooms[kept].size <= most[kept]) return;
    rooms[kept].delete(oldest ?? '');
    if (kept !== 'background') lost += 1;
    discarded.push({ id: oldest ?? '', changed: next() });
    if (discarded.length > limits.plain) discarded.shift();
  };
  const add = (id: string, kind: 'spans' | 'lines', piece: Span | LogLine): void => {
    const { spans, lines, summary: before } = find(id) ?? { spans: [], lines: [], summary: undefined };
    const pieces: (Span | LogLine)[] = kind === 'spans' ? spans : lines;
    if (pieces.length >= most[kind]) return;
    pieces.push(piece);
    const now = summarise(id, spans, lines);
    const answered = !before?.status && now.status !== '';
    const slow = answered ? isSlow(now.name, now.ms ?? 0) : before?.slow === true;
    const kept = roomOf(now, slow);
    keep({ id, spans, lines, changed: next(), summary: { ...now, slow, kept } });
  };
  return {
    addSpan: (span: Span): void => {
      const name = span.name.replace(/^courseexchange\.[\w.]*?\.(?=\w+\/)/, '');
      if (span.parentSpanId !== '' || !polling.test(name)) add(span.traceId, 'spans', { ...span, name });
    },
    addLine: (line: LogLine): void => {
      const id = line.traceId || line.requestId;
      if (id !== '') add(id, 'lines', line);
    },
    /** What has changed after `number`. `lost`: requests discarded so far. */
    since: (number: number) => ({
      lost,
      requests: all().flatMap(({ changed, summary }) => (changed > number ? [summary] : [])),
      discarded: discarded.flatMap(({ changed, id }) => (changed > number ? [id] : [])),
    }),
    /** By trace or request id. */
    detail: (id: string) => {
      const entry = find(id) ?? all().find(({ summary }) => summary.requestId === id);
      if (!entry) return undefined;
      const lines = entry.lines.toSorted((a, b) => a.time - b.time);
      return { ...entry.summary, trace: entry.spans.toSorted((a, b) => a.start - b.start), lines };
    },
  };
}

function roomOf({ background, notable }: { background: boolean; notable: boolean }, slow: boolean): Room {
  if (background) return 'background';
  return slow || notable ? 'notable' : 'plain';
}

/** Whether an answer took longer than 99 of 100 of its name; over a second while few are known. */
function slowness() {
  const known = new Map<string, number[]>();
  return (name: string, ms: number): boolean => {
    const last = known.get(name) ?? [];
    const quantile =
      last.length < 100 ? 1_000 : last.toSorted((a, b) => a - b)[Math.floor(last.length * 0.99)];
    known.set(name, [...last, ms].slice(-300));
    return ms > (quantile ?? 0);
  };
}

/** A line of the list of requests; '' is what is not known yet. */
function summarise(id: string, spans: readonly Span[], lines: readonly LogLine[]) {
  const root = spans.find(({ parentSpanId }) => parentSpanId === '');
  const answer = lines.find(({ service, message }) => service === 'gateway' && message === 'request');
  const parties = partiesOf(spans, lines, answer?.fields);
  const course = answer ? asAnswered(answer, root) : asTraced(spans, lines, root);
  return {
    ...{ id, ...course, ...parties, spans: spans.length },
    background: course.background && !parties.alarming,
    requestId: lines.find(({ requestId }) => requestId !== '')?.requestId ?? '',
    /** What else the filter finds: processes, stores and calls. */
    words: joined(
      spans.flatMap(({ service, name, attributes }) => [
        ...[service, name.replace(/^.*\//, ''), attributes['db.system.name']],
      ]),
    ),
    /** Refused, failed, or a security event that is not of every login. */
    notable: Number(course.status) >= 400 || parties.code !== '' || parties.alarming,
  };
}

/** The gateway's line `request` knows best. */
function asAnswered({ fields, time: end }: LogLine, root: Span | undefined) {
  const { method = '', status = '' } = fields;
  const ms = Number(fields.durationMs);
  const route = fields.route === undefined || fields.route === 'unknown' ? '(no route)' : fields.route;
  const name = root?.name ?? `${method} ${route}`.trim();
  return { name, status, ms, time: root?.start ?? end - ms, background: false };
}

function asTraced(spans: readonly Span[], lines: readonly LogLine[], root: Span | undefined) {
  const first = root ?? spans.toSorted((a, b) => a.start - b.start)[0];
  return {
    name: first?.name ?? lines[0]?.message ?? '',
    status: root?.attributes['http.response.status_code'] ?? '',
    ms: root && root.end - root.start,
    time: first?.start ?? lines[0]?.time ?? 0,
    background: root?.attributes['http.route'] === undefined,
  };
}

const usual = ['login.accepted', 'session.begun', 'consent.given'];

/** Who asked, and what the services said of it. `answer`: the fields of the gateway's line. */
function partiesOf(spans: readonly Span[], lines: readonly LogLine[], answer?: LogLine['fields']) {
  const said = (key: string) => answer?.[key] ?? lines.find(({ fields }) => fields[key])?.fields[key] ?? '';
  // Only the first of equal refusals have a line (R33.4).
  const traced = spans.map(({ attributes }) => attributes['course_exchange.error.reason']).find(Boolean);
  const events = lines.flatMap(({ fields }) => fields.event ?? []);
  return {
    ...{ code: said('code'), reason: said('reason') || (traced ?? ''), client: said('client') },
    ...{ user: said('user'), network: said('network'), event: joined(events) },
    /** The request named this client and has not proved to be it. */
    claimed: answer !== undefined && answer.client === undefined && said('client') !== '',
    alarming: events.some((one) => !usual.includes(one)),
  };
}

const joined = (values: Iterable<string | undefined>) => [...new Set(values)].filter(Boolean).join(' ');
