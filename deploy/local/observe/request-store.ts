// The requests of the last minutes: each with the spans and the log lines of its trace. Bounded; the oldest goes first.
import type { LogLine } from './log-lines.ts';
import type { Span } from './otlp.ts';

/** A line of the list. What nobody has told yet is ''. */
export interface RequestSummary {
  /** The trace's id; the request id where there is no trace, as for a request refused at the door. */
  readonly id: string;
  readonly requestId: string;
  readonly time: number;
  readonly name: string;
  readonly status: string;
  readonly code: string;
  readonly reason: string;
  readonly client: string;
  /** Undefined until it is answered. */
  readonly ms: number | undefined;
  readonly spans: number;
  /** Nobody asked for it from outside: a service's own work, such as fetching the key set. */
  readonly background: boolean;
}

export interface RequestDetail extends RequestSummary {
  readonly trace: readonly Span[];
  readonly lines: readonly LogLine[];
}

interface Entry {
  readonly id: string;
  readonly spans: Span[];
  readonly lines: LogLine[];
}

const limits = { requests: 1_000, spans: 400, lines: 200 };

/** `onChange` is called with each request of which something new is known. */
export function openRequestStore(onChange: (id: string) => void = () => {}, most = limits) {
  const entries = new Map<string, Entry>();
  /** A service's own work goes before a request, unless it is so new that nobody knows yet which it is. */
  const leastWanted = (): string => {
    const older = [...entries.values()].slice(0, Math.ceil(entries.size / 2));
    return (older.find((entry) => summarise(entry).background) ?? older[0])?.id ?? '';
  };
  const entryOf = (id: string): Entry => {
    const known = entries.get(id);
    if (known) return known;
    const entry: Entry = { id, spans: [], lines: [] };
    entries.set(id, entry);
    if (entries.size > most.requests) entries.delete(leastWanted());
    return entry;
  };
  return {
    addSpan: (span: Span): void => {
      const { spans } = entryOf(span.traceId);
      if (spans.length >= most.spans) return;
      spans.push(span);
      onChange(span.traceId);
    },
    addLine: (line: LogLine): void => {
      const id = line.traceId || line.requestId;
      if (id === '') return;
      const { lines } = entryOf(id);
      if (lines.length >= most.lines) return;
      lines.push(line);
      onChange(id);
    },
    summaries: (): readonly RequestSummary[] => [...entries.values()].map(summarise),
    summary: (id: string): RequestSummary | undefined => {
      const entry = entries.get(id);
      return entry && summarise(entry);
    },
    detail: (id: string): RequestDetail | undefined => {
      const entry = entries.get(id);
      if (!entry) return undefined;
      const lines = entry.lines.toSorted((a, b) => a.time - b.time);
      return { ...summarise(entry), trace: entry.spans.toSorted((a, b) => a.start - b.start), lines };
    },
  };
}

/** The gateway's line `request` knows best; the first span where there is no such line. */
function summarise({ id, spans, lines }: Entry): RequestSummary {
  const root = spans.find(({ parentSpanId }) => parentSpanId === '');
  const answer = lines.find(({ service, message }) => service === 'gateway' && message === 'request');
  const told = (field: string) => lines.find(({ fields }) => fields[field])?.fields[field] ?? '';
  const common = {
    id,
    requestId: lines.find(({ requestId }) => requestId !== '')?.requestId ?? '',
    reason: told('reason'),
    spans: spans.length,
  };
  if (answer) return { ...common, ...answered(answer, root) };
  const first = root ?? spans.toSorted((a, b) => a.start - b.start)[0];
  return {
    ...common,
    time: first?.start ?? lines[0]?.time ?? 0,
    name: first?.name ?? lines[0]?.message ?? '',
    status: root?.attributes['http.response.status_code'] ?? '',
    code: '',
    client: '',
    ms: root && root.end - root.start,
    background: root?.attributes['http.route'] === undefined,
  };
}

function answered({ time, fields }: LogLine, root: Span | undefined) {
  const { method = '', route = '(no route)', status = '', code = '', client = '', durationMs } = fields;
  const ms = Number(durationMs);
  return {
    time: root?.start ?? time - ms,
    name: root?.name ?? `${method} ${route}`.trim(),
    ...{ status, code, client, ms },
    background: false,
  };
}
