// The requests of the last minutes: each with the spans and the log lines of its trace. Bounded; the oldest goes first.
import type { LogLine } from './log-lines.ts';
import type { Span } from './otlp.ts';

interface Entry {
  /** The trace's id; the request id where there is no trace, as for a request refused at the door. */
  readonly id: string;
  readonly spans: Span[];
  readonly lines: LogLine[];
}

const limits = { requests: 1_000, spans: 400, lines: 200 };

export function openRequestStore(onChange: (id: string) => void = () => {}, most = limits) {
  const entries = new Map<string, Entry>();
  /** A service's own work goes before a request, unless it is so new that it may be part of one. */
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
  const add = (id: string, kind: 'spans' | 'lines', piece: Span | LogLine): void => {
    const pieces: (Span | LogLine)[] = entryOf(id)[kind];
    if (pieces.length >= most[kind]) return;
    pieces.push(piece);
    onChange(id);
  };
  return {
    addSpan: (span: Span): void => add(span.traceId, 'spans', span),
    addLine: (line: LogLine): void => {
      const id = line.traceId || line.requestId;
      if (id !== '') add(id, 'lines', line);
    },
    summaries: () => [...entries.values()].map(summarise),
    summary: (id: string) => {
      const entry = entries.get(id);
      return entry && summarise(entry);
    },
    detail: (id: string) => {
      const entry = entries.get(id);
      if (!entry) return undefined;
      const lines = entry.lines.toSorted((a, b) => a.time - b.time);
      return { ...summarise(entry), trace: entry.spans.toSorted((a, b) => a.start - b.start), lines };
    },
  };
}

/** A line of the list; '' is what is not known yet. The gateway's line `request` knows best, then the first span. */
function summarise({ id, spans, lines }: Entry) {
  const root = spans.find(({ parentSpanId }) => parentSpanId === '');
  const answer = lines.find(({ service, message }) => service === 'gateway' && message === 'request');
  const common = {
    id,
    requestId: lines.find(({ requestId }) => requestId !== '')?.requestId ?? '',
    reason: lines.find(({ fields }) => fields.reason)?.fields.reason ?? '',
    spans: spans.length,
  };
  if (answer) {
    const { method = '', route = '(no route)', status = '', code = '', client = '' } = answer.fields;
    const ms = Number(answer.fields.durationMs);
    return {
      ...{ ...common, status, code, client, ms, background: false },
      time: root?.start ?? answer.time - ms,
      name: root?.name ?? `${method} ${route}`.trim(),
    };
  }
  const first = root ?? spans.toSorted((a, b) => a.start - b.start)[0];
  return {
    ...{ ...common, code: '', client: '' },
    time: first?.start ?? lines[0]?.time ?? 0,
    name: first?.name ?? lines[0]?.message ?? '',
    status: root?.attributes['http.response.status_code'] ?? '',
    ms: root && root.end - root.start,
    background: root?.attributes['http.route'] === undefined,
  };
}
