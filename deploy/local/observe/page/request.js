// One request: what it was, where its time went, its spans as a waterfall with attributes and log lines, and all its lines.
import { clock, colourOf, duration, element, pill } from './elements.js';

/** `act`: closes the request, opens another one, lists those that have some words. */
export function openRequest(place, act) {
  /** Spans whose attributes are shown. */
  const unfolded = new Set();
  let current;
  let asked = 0;

  async function refresh() {
    asked += 1;
    const [id, mine] = [current, asked];
    const answer = await fetch(`request?${new URLSearchParams({ id })}`);
    // What was asked later says more.
    if (mine !== asked || id !== current) return;
    const focused = place.querySelector('[data-span]:focus')?.dataset.span;
    if (answer.ok) render(await answer.json());
    else
      place.replaceChildren(
        element('h2', { id: 'request-title' }, 'This request is not kept: it is unknown, or was discarded'),
      );
    if (focused) place.querySelector(`[data-span="${CSS.escape(focused)}"]`)?.focus();
  }

  function render(detail) {
    const { name, status, ms, id, requestId, time, lines, trace } = detail;
    const spans = ordered(trace);
    const button = element('button.close', { type: 'button' }, 'Close ', element('kbd', 'Esc'));
    button.addEventListener('click', act.close);
    const title = element('h2', { id: 'request-title', tabindex: -1 }, name);
    const why = id === requestId ? 'It was answered before a trace began.' : 'Its spans have not come yet.';
    place.replaceChildren(
      element('div.title', pill(status), title, element('span', duration(ms)), button),
      facts(detail, act),
      ...(spans.length > 0 ? [shares(spans), waterfall(lines, spans, unfolded)] : [element('p.soft', why)]),
      element('h3', 'Log lines'),
      logLines(lines, time),
    );
  }

  return {
    refresh,
    open: (id) => {
      current = id;
      unfolded.clear();
      place.hidden = !id;
      place.replaceChildren();
      if (id) void refresh().then(() => place.querySelector('h2')?.focus({ preventScroll: true }));
    },
  };
}

function facts(detail, { filterBy }) {
  const { requestId, id, client, claimed, user, network, event, code, reason, time } = detail;
  const alike = (value) => {
    const button = element('button.link', { type: 'button', title: 'List requests with this value' }, value);
    button.addEventListener('click', () => filterBy(value));
    return value && button;
  };
  return list('facts', {
    ...{ begun: clock(time), code, reason, event },
    ...{ [claimed ? 'claimed client' : 'client']: alike(client), user: alike(user), network: alike(network) },
    ...{ 'request id': requestId, trace: id === requestId ? '' : id },
  });
}

function list(kind, entries) {
  const said = Object.entries(entries).filter(([, value]) => value !== '');
  const rows = said.map(([name, value]) => element('div', element('dt', name), element('dd', value)));
  return element(`dl.${kind}`, ...rows);
}

/** Another request that a log line names opens it. */
const linked = (name, value) =>
  /request$/i.test(name) || /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value)
    ? element('a', { href: `#${value}` }, value)
    : value;

/** Each span after the one that it is part of, with its depth and the time in which none of its own was at work. */
function ordered(trace) {
  const ids = new Set(trace.map(({ spanId }) => spanId));
  const childrenOf = (id) => trace.filter(({ parentSpanId }) => parentSpanId === id);
  const seen = new Set();
  const walk = (span, depth) => {
    if (seen.has(span.spanId)) return [];
    seen.add(span.spanId);
    const children = childrenOf(span.spanId);
    const own = { ...span, depth, own: span.end - span.start - covered(children, span) };
    return [own, ...children.flatMap((child) => walk(child, depth + 1))];
  };
  return trace.filter(({ parentSpanId }) => !ids.has(parentSpanId)).flatMap((span) => walk(span, 0));
}

function covered(children, { start, end }) {
  let [sum, until] = [0, start];
  for (const child of children.toSorted((a, b) => a.start - b.start)) {
    const to = Math.min(child.end, end);
    sum += Math.max(0, to - Math.max(child.start, until));
    until = Math.max(until, to);
  }
  return sum;
}

const storeOf = ({ attributes }) => attributes['db.system.name'] ?? '';
const storeClass = (store) => (store === 'redis' ? 'store-redis' : 'store-postgresql');

/** Where the time went: a process, a store, or the way between two processes. */
function shares(spans) {
  const sums = new Map();
  for (const span of spans) {
    const store = storeOf(span);
    const where = store || (span.kind === 'client' ? 'between processes' : span.service);
    const kind = store ? storeClass(store) : where === span.service ? colourOf(where) : 'between';
    const sum = sums.get(where) ?? { where, kind, ms: 0 };
    sums.set(where, { ...sum, ms: sum.ms + span.own });
  }
  const parts = [...sums.values()].filter(({ ms }) => ms > 0).sort((a, b) => b.ms - a.ms);
  const bars = parts.map(({ kind, ms }) => {
    const part = element(`span.${kind}`);
    part.style.flexGrow = ms;
    return part;
  });
  const legend = parts.map(({ where, kind, ms }) =>
    element(`li.${kind}`, where, ' ', element('strong', duration(ms))),
  );
  return element(
    'div',
    element('h3', 'Where the time went'),
    element('div.shares', { 'aria-hidden': 'true' }, ...bars),
    element('ul.legend', ...legend),
  );
}

function waterfall(lines, spans, unfolded) {
  const start = Math.min(...spans.map((span) => span.start));
  const whole = Math.max(...spans.map((span) => span.end)) - start || 1;
  const axis = [0, 0.25, 0.5, 0.75, 1].map((share) => element('span', duration(whole * share)));
  return element(
    'div',
    element('h3', 'Spans'),
    element('div.axis', { 'aria-hidden': 'true' }, ...axis),
    element('ol.spans', ...spans.map((span) => spanRow(span, start, whole, lines, unfolded))),
  );
}

/** A line may end after the name of a service. */
const breakable = (name) => name.split(/(?<=\/)/).flatMap((part) => [element('wbr'), part]);

function spanRow(span, start, whole, lines, unfolded) {
  const { spanId, service, name, depth, failed } = span;
  const error = span.attributes['error.type'];
  const own = lines.filter((line) => line.spanId === spanId);
  const ms = span.end - span.start;
  const store = storeOf(span);
  const at = (time) => `${Math.min(100, Math.max(0, ((time - start) / whole) * 100))}%`;
  const bar = element(store ? `span.bar.${storeClass(store)}` : 'span.bar');
  bar.style.left = at(span.start);
  bar.style.width = at(start + ms);
  const marks = own.map(({ time }) => {
    const mark = element('span.mark');
    mark.style.left = at(time);
    return mark;
  });
  const label = element(
    'span.name',
    element('span.process', service),
    element('span.what', ...breakable(name.replace(/^courseexchange\.[\w.]*?\.(?=\w+\/)/, ''))),
    (failed || error) && element(failed ? 'b.error' : 'b.warn', error ?? 'error'),
    own.length > 0 && element('small', own.length === 1 ? '1 line' : `${own.length} lines`),
  );
  label.style.paddingInlineStart = `${Math.min(depth, 12) * 0.75}rem`;
  const button = element(
    'button',
    { type: 'button', 'data-span': spanId, 'aria-expanded': String(unfolded.has(spanId)) },
    label,
    element('span.track', { 'aria-hidden': 'true' }, bar, ...marks),
    element('span.took', duration(ms)),
  );
  const more = element(
    'div.more',
    { hidden: !unfolded.has(spanId) && '' },
    list('attributes', { span: name, kind: span.kind, 'by itself': duration(span.own), ...span.attributes }),
    ...span.events.map((event) =>
      list('attributes', { event: event.name, at: duration(event.time - start), ...event.attributes }),
    ),
    own.length > 0 && logLines(own, start),
  );
  button.addEventListener('click', () => {
    const unfolds = button.getAttribute('aria-expanded') !== 'true';
    button.setAttribute('aria-expanded', String(unfolds));
    more.hidden = !unfolds;
    if (unfolds) unfolded.add(spanId);
    else unfolded.delete(spanId);
  });
  return element(`li.${colourOf(service)}`, button, more);
}

function logLines(lines, start) {
  if (lines.length === 0) return element('p.soft', 'None.');
  const rows = lines.map(({ service, level, message, time, fields }) => {
    const said = Object.entries(fields).map(([name, value]) =>
      element('span.field', element('i', name), linked(name, value)),
    );
    return element(
      `li.${colourOf(service)}`,
      element('time', `+${duration(Math.max(0, time - start))}`),
      element('span.process', service),
      element(
        'span.said',
        level !== 'info' && element(`b.${level}`, level),
        element('strong', message),
        ...said,
      ),
    );
  });
  return element('ol.lines', ...rows);
}
