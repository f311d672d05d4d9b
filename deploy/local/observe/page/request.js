// One request: what it was, where its time went, its spans as a waterfall with attributes and log lines, and all its lines.
import { repeat } from '../../node_modules/lit-html/directives/repeat.js';
import { html, nothing, render } from '../../node_modules/lit-html/lit-html.js';
import { clock, duration, pill } from './elements.js';

const unknown = html`<h2 id="request-title">This request is not kept: it is unknown, or was discarded</h2>`;

/** `act`: closes the request, lists those that have some words. */
export function openRequest(place, act) {
  let current = '';
  let asked = 0;

  async function refresh() {
    asked += 1;
    const mine = asked;
    const answer = await fetch(`request?${new URLSearchParams({ id: current })}`);
    const shown = answer.ok ? requestOf(await answer.json(), act) : unknown;
    // What was asked later says more.
    if (mine === asked) render(shown, place);
  }

  return {
    refresh,
    open: (id) => {
      current = id;
      asked += 1;
      place.hidden = !id;
      render(nothing, place);
      if (id) void refresh().then(() => place.querySelector('h2')?.focus({ preventScroll: true }));
    },
  };
}

function requestOf(detail, act) {
  const { name, status, ms, id, requestId, time, lines, trace } = detail;
  const spans = ordered(trace);
  const why = id === requestId ? 'It was answered before a trace began.' : 'Its spans have not come yet.';
  return html`
    <div class="title">
      ${pill(status)}
      <h2 id="request-title" tabindex="-1">${name}</h2>
      <span>${duration(ms)}</span>
      <button class="close" type="button" @click=${act.close}>Close <kbd>Esc</kbd></button>
    </div>
    ${facts(detail, act)}
    ${spans.length > 0 ? [shares(spans), waterfall(lines, spans)] : html`<p class="soft">${why}</p>`}
    <h3>Log lines</h3>
    ${logLines(lines, time)}
  `;
}

function facts(detail, { filterBy }) {
  const { requestId, id, client, claimed, user, network, event, code, reason, time } = detail;
  const title = 'List requests with this value';
  const alike = (value) =>
    value &&
    html`<button class="link" type="button" title=${title} @click=${() => filterBy(value)}>${value}</button>`;
  return pairs('facts', {
    ...{ begun: clock(time), code, reason, event },
    ...{ [claimed ? 'claimed client' : 'client']: alike(client), user: alike(user), network: alike(network) },
    ...{ 'request id': requestId, trace: id === requestId ? '' : id },
  });
}

function pairs(kind, entries) {
  const said = Object.entries(entries).filter(([, value]) => value !== '');
  const rows = said.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`);
  return html`<dl class=${kind}>${rows}</dl>`;
}

/** Each span after its parent, with its depth and the time in which none of its children ran. */
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

/** The parts of the time: a process, a store, or the way between two processes. */
function shares(spans) {
  const sums = new Map();
  for (const span of spans) {
    const store = storeOf(span);
    const where = store || (span.kind === 'client' ? 'between processes' : span.service);
    const kind = store ? storeClass(store) : where === span.service ? `process-${where}` : 'between';
    const sum = sums.get(where) ?? { where, kind, ms: 0 };
    sums.set(where, { ...sum, ms: sum.ms + span.own });
  }
  const parts = [...sums.values()].filter(({ ms }) => ms > 0).sort((a, b) => b.ms - a.ms);
  return html`
    <h3>Where the time went</h3>
    <div class="shares" aria-hidden="true">
      ${parts.map(({ kind, ms }) => html`<span class=${kind} .style=${`flex-grow: ${ms}`}></span>`)}
    </div>
    <ul class="legend">
      ${parts.map(({ where, kind, ms }) => html`<li class=${kind}>${where} <strong>${duration(ms)}</strong></li>`)}
    </ul>
  `;
}

function waterfall(lines, spans) {
  const start = Math.min(...spans.map((span) => span.start));
  const whole = Math.max(...spans.map((span) => span.end)) - start || 1;
  const rows = repeat(
    spans,
    ({ spanId }) => spanId,
    (span) => spanRow(span, start, whole, lines),
  );
  return html`
    <h3>Spans</h3>
    <div class="axis" aria-hidden="true">
      ${[0, 0.25, 0.5, 0.75, 1].map((share) => html`<span>${duration(whole * share)}</span>`)}
    </div>
    <ol class="spans">${rows}</ol>
  `;
}

/** A line may end after the name of a service. */
const callName = (name) => name.split(/(?<=\/)/).map((part) => html`<wbr>${part}`);

function spanRow(span, start, whole, lines) {
  const { spanId, service, name, kind, depth, failed, attributes, events } = span;
  const own = lines.filter((line) => line.spanId === spanId);
  const store = storeOf(span);
  const share = (ms) => `${Math.min(100, Math.max(0, (ms / whole) * 100))}%`;
  const bar = `left: ${share(span.start - start)}; width: ${share(span.end - span.start)}`;
  return html`<li class="process-${service}">
    <details>
      <summary>
        <span class="name" .style=${`padding-inline-start: ${Math.min(depth, 12) * 0.75}rem`}>
          <span class="process">${service}</span>
          <span class="what">${callName(name)}</span>
          <b class=${failed ? 'error' : 'warn'}>${attributes['error.type'] ?? (failed ? 'error' : '')}</b>
          <small>${own.length > 0 ? `${own.length} ${own.length === 1 ? 'line' : 'lines'}` : ''}</small>
        </span>
        <span class="track" aria-hidden="true">
          <span class="bar ${store && storeClass(store)}" .style=${bar}></span>
          ${own.map(({ time }) => html`<span class="mark" .style=${`left: ${share(time - start)}`}></span>`)}
        </span>
        <span class="took">${duration(span.end - span.start)}</span>
      </summary>
      <div class="more">
        ${pairs('attributes', { span: name, kind, 'by itself': duration(span.own), ...attributes })}
        ${events.map((event) =>
          pairs('attributes', { event: event.name, at: duration(event.time - start), ...event.attributes }),
        )}
        ${own.length > 0 ? logLines(own, start) : nothing}
      </div>
    </details>
  </li>`;
}

function logLines(lines, start) {
  if (lines.length === 0) return html`<p class="soft">None.</p>`;
  const fieldOf = ([name, value]) => html`<span class="field"><i>${name}</i>${value}</span>`;
  const rows = lines.map(
    ({ service, level, message, time, fields }) => html`<li class="process-${service}">
      <time>+${duration(Math.max(0, time - start))}</time>
      <span class="process">${service}</span>
      <span class="said">
        <b class=${level}>${level === 'info' ? '' : level}</b>
        <strong>${message}</strong>
        ${Object.entries(fields).map(fieldOf)}
      </span>
    </li>`,
  );
  return html`<ol class="lines">${rows}</ol>`;
}
