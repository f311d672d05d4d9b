// The list of requests as they arrive, and what a person does with it: filter, pause, open one, move by keys.
import { repeat } from '../../node_modules/lit-html/directives/repeat.js';
import { html, render } from '../../node_modules/lit-html/lit-html.js';
import { clock, duration, find, pill } from './elements.js';
import { openRequest } from './request.js';
import { openTiles } from './tiles.js';

const maxRows = 300;
const pollMs = 500;
const rows = find('rows');
const filter = find('filter');
const background = find('background');
const tiles = openTiles(filterBy);
const request = openRequest(find('request'), { close, filterBy });

/** By id: the newest summary of each request that is kept. */
const known = new Map();
/** The trace or request id in the address. */
let opened = '';
let lost = 0;
let heard = 0;

function row(summary, isTabStop) {
  const { id, name, status, code, reason, event, client, claimed, slow, requestId, ms, time } = summary;
  const why = [code, reason].filter(Boolean).join(': ');
  return html`<li>
    <a class="row" href="#${id}" tabindex=${isTabStop ? 0 : -1} aria-current=${isOpened(summary)}>
      ${pill(status)}
      <span class="name">${name} <b>${why}</b> <b class="event">${event}</b></span>
      <span class="took">${duration(ms)} <b>${slow ? 'slow' : ''}</b></span>
      <span class="about">
        <time>${clock(time)}</time>
        <span><bdi>${client}</bdi>${claimed ? ' (claimed)' : ''}</span>
        <code>${requestId}</code>
      </span>
    </a>
  </li>`;
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

function show() {
  const shown = shownNow();
  const listed = shown.slice(0, maxRows);
  const focused = document.activeElement?.closest('#rows a')?.hash.slice(1);
  // One stop for the tab key; the arrows go on from there.
  const stop = listed.find(({ id }) => id === focused) ?? listed.find(isOpened) ?? listed[0];
  const keyed = repeat(
    listed,
    ({ id }) => id,
    (one) => row(one, one === stop),
  );
  render(keyed, rows);
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
    if (!find('pause').checked) {
      take(await (await fetch(`news?since=${heard}`)).json());
      sayState('live');
    }
  } catch {
    sayState('not connected');
  }
  setTimeout(poll, pollMs);
}

function sayState(state) {
  find('state').className = state;
  if (find('state').textContent !== state) find('state').textContent = state;
}

function open() {
  const before = opened;
  opened = location.hash.slice(1);
  request.open(opened);
  show();
  if (!opened) rows.querySelector(`a[href="#${CSS.escape(before)}"]`)?.focus();
}

function close() {
  location.hash = '';
}

function filterBy(words) {
  filter.value = words;
  show();
  find('count').scrollIntoView();
}

function step(event) {
  const links = [...rows.querySelectorAll('a')];
  const at = links.indexOf(document.activeElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: links.length - 1 }[event.key];
  if (!links[to]) return;
  event.preventDefault();
  links[to].focus();
  show();
}

filter.addEventListener('input', show);
background.addEventListener('change', show);
rows.addEventListener('keydown', step);
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && opened && document.activeElement !== filter) close();
  if (event.key !== '/' || event.target instanceof HTMLInputElement) return;
  event.preventDefault();
  filter.focus();
});
addEventListener('hashchange', open);

open();
void poll();
