// One request: what it was, where its time went, its spans as a waterfall with attributes and log lines, and all its lines.
import { clock, colourOf, duration, element, pill } from './elements.js';

export function openRequest(place, close) {
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
    else place.replaceChildren(element('h2', { id: 'request-title' }, 'This request is not kept any more'));
    if (focused) place.querySelector(`[data-span="${CSS.escape(focused)}"]`)?.focus();
  }

  function render(detail) {
    const spans = ordered(detail.trace);
    const button = element('button', { type: 'button', class: 'close' }, 'Close ', element('kbd', {}, 'Esc'));
    button.addEventListener('click', close);
    const title = element('h2', { id: 'request-title', tabindex: -1 }, detail.name);
    place.replaceChildren(
      element(
        'div',
        { class: 'title' },
        pill(detail.status),
        title,
        element('span', {}, duration(detail.ms)),
        button,
      ),
      facts(detail),
      ...(spans.length > 0 ? [shares(spans), waterfall(detail, spans, unfolded)] : [noSpans(detail)]),
      element('h3', {}, 'Log lines'),
      logLines(detail.lines, detail.time),
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

function noSpans({ id, requestId }) {
  const why = id === requestId ? 'It was answered before a trace began.' : 'Its spans have not come yet.';
  return element('p', { class: 'soft' }, why);
}

function facts({ requestId, id, client, code, reason, time }) {
  const all = {
    begun: clock(time),
    code,
    reason,
    client,
    'request id': requestId,
    trace: id === requestId ? '' : id,
  };
  return list(all, 'facts');
}

function list(entries, kind) {
  const said = Object.entries(entries).filter(([, value]) => value !== '');
  return element(
    'dl',
    { class: kind },
    ...said.map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value))),
  );
}

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
  const bar = element('div', { class: 'shares', 'aria-hidden': 'true' });
  for (const { kind, ms } of parts) {
    const part = element('span', { class: kind });
    part.style.flexGrow = ms;
    bar.append(part);
  }
  const legend = parts.map(({ where, kind, ms }) =>
    element('li', { class: kind }, where, ' ', element('strong', {}, duration(ms))),
  );
  return element(
    'div',
    {},
    element('h3', {}, 'Where the time went'),
    bar,
    element('ul', { class: 'legend' }, ...legend),
  );
}

function waterfall({ lines }, spans, unfolded) {
  const start = Math.min(...spans.map((span) => span.start));
  const whole = Math.max(...spans.map((span) => span.end)) - start || 1;
  const axis = [0, 0.25, 0.5, 0.75, 1].map((share) => element('span', {}, duration(whole * share)));
  return element(
    'div',
    {},
    element('h3', {}, 'Spans'),
    element('div', { class: 'axis', 'aria-hidden': 'true' }, ...axis),
    element('ol', { class: 'spans' }, ...spans.map((span) => spanRow(span, start, whole, lines, unfolded))),
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
  const bar = element('span', { class: store ? `bar ${storeClass(store)}` : 'bar' });
  bar.style.left = `${Math.max(0, ((span.start - start) / whole) * 100)}%`;
  bar.style.width = `${Math.min(100, (ms / whole) * 100)}%`;
  const marks = own.map(({ time }) => {
    const mark = element('span', { class: 'mark' });
    mark.style.left = `${Math.min(100, Math.max(0, ((time - start) / whole) * 100))}%`;
    return mark;
  });
  const label = element(
    'span',
    { class: 'name' },
    element('span', { class: 'process' }, service),
    element('span', { class: 'what' }, ...breakable(name.replace(/^courseexchange\.[\w.]*?\.(?=\w+\/)/, ''))),
    (failed || error) && element('b', { class: failed ? 'error' : 'warn' }, error ?? 'error'),
    own.length > 0 && element('small', {}, own.length === 1 ? '1 line' : `${own.length} lines`),
  );
  label.style.paddingInlineStart = `${Math.min(depth, 12) * 0.75}rem`;
  const button = element(
    'button',
    { type: 'button', 'data-span': spanId, 'aria-expanded': String(unfolded.has(spanId)) },
    label,
    element('span', { class: 'track', 'aria-hidden': 'true' }, bar, ...marks),
    element('span', { class: 'took' }, duration(ms)),
  );
  const more = element(
    'div',
    { class: 'more', hidden: !unfolded.has(spanId) && '' },
    list({ span: name, kind: span.kind, 'by itself': duration(span.own), ...span.attributes }, 'attributes'),
    ...span.events.map((event) =>
      list({ event: event.name, at: duration(event.time - start), ...event.attributes }, 'attributes'),
    ),
    own.length > 0 ? logLines(own, start) : undefined,
  );
  button.addEventListener('click', () => {
    const unfolds = button.getAttribute('aria-expanded') !== 'true';
    button.setAttribute('aria-expanded', String(unfolds));
    more.hidden = !unfolds;
    if (unfolds) unfolded.add(spanId);
    else unfolded.delete(spanId);
  });
  return element('li', { class: colourOf(service) }, button, more);
}

function logLines(lines, start) {
  if (lines.length === 0) return element('p', { class: 'soft' }, 'None.');
  const rows = lines.map(({ service, level, message, time, fields }) =>
    element(
      'li',
      { class: colourOf(service) },
      element('time', {}, `+${duration(Math.max(0, time - start))}`),
      element('span', { class: 'process' }, service),
      element(
        'span',
        { class: 'said' },
        level !== 'info' && element('b', { class: level }, level),
        element('strong', {}, message),
        ...Object.entries(fields).map(([name, value]) =>
          element('span', { class: 'field' }, element('i', {}, name), value),
        ),
      ),
    ),
  );
  return element('ol', { class: 'lines' }, ...rows);
}
