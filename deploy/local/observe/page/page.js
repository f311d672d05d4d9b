// The list of requests as they come, and what a person does with it: filter, pause, open one, go through them by keys.
import { clock, duration, element, pill } from './elements.js';
import { openRequest } from './request.js';
import { openTiles } from './tiles.js';

const maxRows = 300;
const find = (id) => document.getElementById(id);
const rows = find('rows');
const filter = find('filter');
const background = find('background');
const pause = find('pause');
const tiles = openTiles(find('tiles'));
const request = openRequest(find('request'), () => open(undefined));

/** By id: the summary that came last, and its row. */
const known = new Map();
let opened;
let waiting = [];

function row(summary) {
  const { id, name, status, code, reason, client, requestId, ms, time } = summary;
  const button = element(
    'button.row',
    { type: 'button', tabindex: -1, 'aria-current': id === opened && 'true' },
    pill(status),
    element('span.name', name, code && element('b', reason ? `${code}: ${reason}` : code)),
    element('span.took', duration(ms)),
    element(
      'span.about',
      element('time', clock(time)),
      client && element('bdi', client),
      requestId && element('code', requestId),
    ),
  );
  button.addEventListener('click', () => open(id));
  return element('li', { 'data-id': id }, button);
}

const textOf = ({ id, name, status, code, reason, client, requestId }) =>
  [id, name, status, code, reason, client, requestId].join(' ').toLowerCase();

function isShown(summary) {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  return (background.checked || !summary.background) && words.every((word) => textOf(summary).includes(word));
}

function show(summary) {
  const before = known.get(summary.id);
  const made = row(summary);
  made.hidden = !isShown(summary);
  const focused = before?.element.contains(document.activeElement);
  if (!before) made.className = 'new';
  before?.element.remove();
  // What a process tells last need not be the newest.
  let next = rows.firstChild;
  while (next && known.get(next.dataset.id).summary.time > summary.time) next = next.nextSibling;
  rows.insertBefore(made, next);
  known.set(summary.id, { summary, element: made });
  if (focused) made.firstChild.focus();
  if (summary.id === opened && before?.summary.spans !== summary.spans) request.refresh();
  for (const oldest of known.keys()) {
    if (known.size <= maxRows) return;
    if (oldest === opened) continue;
    known.get(oldest).element.remove();
    known.delete(oldest);
  }
}

function settle() {
  const shown = [...rows.children].filter((one) => !one.hidden);
  find('empty').hidden = shown.length > 0;
  if (known.size > 0 && shown.length === 0) find('empty').textContent = 'No request matches.';
  // One stop for the tab key; the arrows go on from there.
  const stop =
    shown.find((one) => one.contains(document.activeElement)) ?? known.get(opened)?.element ?? shown[0];
  for (const one of rows.children) one.firstChild.tabIndex = one === stop ? 0 : -1;
}

function take(news) {
  if (pause.getAttribute('aria-pressed') === 'true') {
    waiting = [...waiting, ...news].slice(-1000);
    pause.textContent = `Go on (${new Set(waiting.map(({ id }) => id)).size})`;
    return;
  }
  for (const summary of news) show(summary);
  settle();
}

function open(id) {
  const last = known.get(opened);
  last?.element.firstChild.removeAttribute('aria-current');
  opened = id;
  known.get(id)?.element.firstChild.setAttribute('aria-current', 'true');
  history.replaceState(null, '', id ? `#${id}` : location.pathname);
  request.open(id);
  if (!id) last?.element.firstChild.focus();
  settle();
}

function refilter() {
  for (const { summary, element: made } of known.values()) made.hidden = !isShown(summary);
  settle();
}

function step(event) {
  const shown = [...rows.children].filter((one) => !one.hidden);
  const at = shown.findIndex((one) => one.contains(document.activeElement));
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: shown.length - 1 }[event.key];
  const next = to === undefined ? undefined : shown[to];
  if (!next) return;
  event.preventDefault();
  next.firstChild.focus();
  settle();
}

filter.addEventListener('input', refilter);
background.addEventListener('change', refilter);
rows.addEventListener('keydown', step);
pause.addEventListener('click', () => {
  const paused = pause.getAttribute('aria-pressed') !== 'true';
  pause.setAttribute('aria-pressed', String(paused));
  pause.textContent = paused ? 'Go on' : 'Pause';
  if (!paused) take(waiting.splice(0));
});
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && opened && document.activeElement !== filter) open(undefined);
  if (event.key !== '/' || event.target instanceof HTMLInputElement) return;
  event.preventDefault();
  filter.focus();
});

const live = new EventSource('live');
const hear = (event, act) => live.addEventListener(event, ({ data }) => act(JSON.parse(data)));
const tell = (state) => {
  find('state').textContent = state;
  find('state').className = state;
};
live.addEventListener('open', () => tell('live'));
live.addEventListener('error', () => tell('not connected'));
hear('tiles', tiles.begin);
hear('point', tiles.add);
hear('requests', take);
if (location.hash) open(location.hash.slice(1));
