// A line of the list of requests; '' is what is not known yet.
import type { LogLine } from './log-lines.ts';
import type { Span } from './otlp.ts';

export function summarise(id: string, spans: readonly Span[], lines: readonly LogLine[]) {
  const root = spans.find(({ parentSpanId }) => parentSpanId === '');
  const answer = lines.find(({ service, message }) => service === 'gateway' && message === 'request');
  const parties = partiesOf(lines, answer?.fields ?? {});
  const course = answer ? asAnswered(answer, root) : asTraced(spans, lines, root);
  return {
    ...{ id, ...course, ...parties, spans: spans.length },
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
function partiesOf(lines: readonly LogLine[], answer: LogLine['fields']) {
  const said = (name: string) => answer[name] ?? lines.find(({ fields }) => fields[name])?.fields[name] ?? '';
  const events = lines.filter(({ message }) => message === 'security event').map(({ fields }) => fields);
  return {
    ...{ code: said('code'), reason: said('reason'), client: said('client') },
    ...{ user: said('user'), network: said('network') },
    event: joined(events.map(({ event }) => event)),
    /** The request named this client and has not proved to be it. */
    claimed: answer.client === undefined && said('client') !== '',
    alarming: events.some(({ event = '' }) => !usual.includes(event)),
  };
}

const joined = (values: Iterable<string | undefined>) => [...new Set(values)].filter(Boolean).join(' ');
