// The list of requests as they come, and what a person does with it: filter, pause, open one, go through them by keys.
import { clock, duration, element, pill } from './elements.js';
import { openRequest } from './request.js';
import { openTiles } from './tiles.js';

const maxRows = 300;
const pollMs = 500;
const find = (id) => document.getElementById(id);
const rows = find('rows');
const filter = find('filter');
const background = find('background');
const pause = find('pause');
const tiles = openTiles(filterBy);
const request = openRequest(find('request'), { close: () => open(undefined), filterBy, open });

/** By id: the newest summary of each request that is kept. */
const known = new Map();
/** By summary: its row. */
const made = new WeakMap();
let opened = location.hash.slice(1);
let lost = 0;
let heard = 0;

function row(summary) {
  const { id, name, status, code, reason, event, client, claimed, slow, requestId, ms, time } = summary;
  const why = [code, reason].filter(Boolean).join(': ');
  const button = element(
    'button.row',
    { type: 'button', tabindex: -1 },
    pill(status),
    element('span.name', name, why && element('b', why), event && element('b.event', event)),
    element('span.took', duration(ms), slow && element('b', ' slow')),
    element(
      'span.about',
      element('time', clock(time)),
      client && element('span', element('bdi', client), claimed && ' (claimed)'),
      requestId && element('code', requestId),
    ),
  );
  button.addEventListener('click', () => open(id));
  return element('li', { 'data-id': id }, button);
}

function textOf(summary) {
  const { id, name, status, code, reason, event, client, user, network, requestId, words, slow } = summary;
  const said = [id, name, status, code, reason, event, client, user, network, requestId, words];
  return [...said, slow && 'slow'].join(' ').toLowerCase();
}

const isOpened = ({ id, requestId }) => opened !== '' && (id === opened || requestId === opened);

function shownNow() {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = (summary) => {
    const text = textOf(summary);
    return (background.checked || !summary.background) && words.every((word) => text.includes(word));
  };
  return [...known.values()].filter(matches).sort((a, b) => b.time - a.time);
}

function rowOf(summary) {
  const element = made.get(summary) ?? row(summary);
  made.set(summary, element);
  if (isOpened(summary)) element.firstChild.setAttribute('aria-current', 'true');
  else element.firstChild.removeAttribute('aria-current');
  return element;
}

function show() {
  const shown = shownNow();
  const focused = document.activeElement?.closest('#rows li')?.dataset.id;
  const wanted = shown.slice(0, maxRows).map(rowOf);
  const kept = new Set(wanted);
  for (const one of [...rows.children]) if (!kept.has(one)) one.remove();
  for (const [at, one] of wanted.entries())
    if (rows.children[at] !== one) rows.insertBefore(one, rows.children[at]);
  // One stop for the tab key; the arrows go on from there.
  const current =
    wanted.find((one) => one.dataset.id === focused) ??
    wanted.find((one) => one.querySelector('[aria-current]'));
  for (const one of wanted) one.firstChild.tabIndex = one === (current ?? wanted[0]) ? 0 : -1;
  if (focused && current?.dataset.id === focused) current.firstChild.focus({ preventScroll: true });
  find('count').textContent = sayCount(shown);
}

function sayCount(shown) {
  const older = lost > 0 ? ' Older requests have been discarded.' : '';
  const filtered = filter.value.trim() !== '';
  if (shown.length > 0) {
    const since = clock(shown.at(-1).time).slice(0, 8);
    const what = filtered ? 'requests that match' : 'requests';
    return `${Math.min(shown.length, maxRows)} of ${shown.length} ${what}, since ${since}.${older}`;
  }
  if (filtered) return `No request matches the filter.${older}`;
  return older.trim() || 'No requests yet. Open the demo partner, and its requests appear here.';
}

function take(news) {
  // A stack that has started again begins at 1.
  if (news.changes < heard) location.reload();
  heard = news.changes;
  lost = news.lost;
  for (const id of news.discarded) known.delete(id);
  for (const summary of news.requests) known.set(summary.id, summary);
  if (news.requests.length > 0 || news.discarded.length > 0) show();
  if (news.requests.some(isOpened)) request.refresh();
  tiles.take(news);
}

async function poll() {
  try {
    if (pause.getAttribute('aria-pressed') !== 'true') {
      take(await (await fetch(`news?since=${heard}`)).json());
      tell('live');
    }
  } catch {
    tell('not connected');
  }
  setTimeout(poll, pollMs);
}

function tell(state) {
  find('state').className = state;
  if (find('state').textContent !== state) find('state').textContent = state;
}

function open(id = '') {
  const before = opened;
  opened = id;
  history.replaceState(null, '', id ? `#${id}` : location.pathname);
  request.open(id);
  show();
  if (!id) rows.querySelector(`[data-id="${CSS.escape(before)}"] button`)?.focus();
}

function filterBy(words) {
  filter.value = words;
  view('list');
  show();
}

function view(name) {
  document.body.dataset.view = name;
  for (const one of document.querySelectorAll('nav button'))
    one.setAttribute('aria-pressed', String(one.dataset.view === name));
}

function step(event) {
  const shown = [...rows.children];
  const at = shown.findIndex((one) => one.contains(document.activeElement));
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: shown.length - 1 }[event.key];
  const next = to === undefined ? undefined : shown[to];
  if (!next) return;
  event.preventDefault();
  next.firstChild.focus();
  show();
}

filter.addEventListener('input', show);
background.addEventListener('change', show);
rows.addEventListener('keydown', step);
for (const one of document.querySelectorAll('nav button'))
  one.addEventListener('click', () => view(one.dataset.view));
pause.addEventListener('click', () => {
  const paused = pause.getAttribute('aria-pressed') !== 'true';
  pause.setAttribute('aria-pressed', String(paused));
  pause.textContent = paused ? 'Go on' : 'Pause';
});
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && opened && document.activeElement !== filter) open();
  if (event.key !== '/' || event.target instanceof HTMLInputElement) return;
  event.preventDefault();
  filter.focus();
});
addEventListener('hashchange', () => open(location.hash.slice(1)));

show();
void poll();
if (opened) open(opened);
