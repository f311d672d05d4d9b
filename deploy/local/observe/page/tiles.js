// The metrics as tiles: the values of one moment, line by line, and the last minutes as curves; and the locks of Postgres.
import { html, nothing, render, svg } from '../../node_modules/lit-html/lit-html.js';
import { clock, duration, find } from './elements.js';

const maxLines = 4;
const [width, height] = [240, 44];

const said = {
  'per second': (value) => `${value.toFixed(value >= 9.95 ? 0 : value >= 0.095 ? 1 : 2)} /s`,
  seconds: (value) => (value < 120 ? duration(value * 1000) : `${Math.round(value / 60)} min`),
  count: (value) => String(Math.round(value)),
};

/** `filterBy` lists the requests that have these words. */
export function openTiles(filterBy) {
  let points = [];
  let news = { tiles: [], locks: [] };
  const moment = find('moment');
  const isNow = () => moment.value === moment.max;

  function show() {
    const from = Date.now() - Number(find('minutes').value) * 60_000;
    const drawn = points.filter(({ time }) => time >= from);
    const at = isNow() ? drawn.length - 1 : Math.round((drawn.length - 1) * (moment.value / moment.max));
    find('at').textContent = isNow() || !drawn[at] ? 'now' : clock(drawn[at].time).slice(0, 8);
    render(
      news.tiles.map((shape) => tile(shape, drawn, at)),
      find('tiles'),
    );
    render(locksOf(news.locks), find('locks'));
  }

  function tile(shape, drawn, at) {
    const { id, title, unit, of, filters, totals, note } = shape;
    const history = drawn.map((point) => point.tiles[id] ?? {});
    const now = history[at] ?? {};
    const peaks = { ...totals };
    for (const values of history)
      for (const [line, value] of Object.entries(values)) peaks[line] = Math.max(peaks[line] ?? 0, value);
    const lines = Object.keys(peaks)
      .filter((line) => peaks[line] > 0 || id === 'pools')
      .sort((a, b) => (now[b] ?? 0) - (now[a] ?? 0) || peaks[b] - peaks[a]);
    const values = Object.values(now);
    const headline = unit === 'seconds' ? Math.max(0, ...values) : values.reduce((a, b) => a + b, 0);
    const rows = lines.map((line, nth) => {
      const list = () => filterBy(line.replaceAll(': ', ' '));
      const total = isNow() && totals?.[line] !== undefined ? `${totals[line]} ${of}` : '';
      return html`<li class="line-${nth}">
        ${filters ? html`<button type="button" @click=${list}>${line}</button>` : html`<span>${line}</span>`}
        <strong>${now[line] === undefined ? '–' : said[unit](now[line])}</strong>
        <small class="total">${total}</small>
      </li>`;
    });
    // A rare event counts as much as a frequent one.
    const more = rows.splice(of === 'in all' ? 3 * maxLines : maxLines);
    return html`<article class="tile" data-tile=${id}>
      <div><h3>${title}</h3><p>${values.length > 0 ? said[unit](headline) : ''}</p></div>
      ${chart(lines.slice(0, maxLines), history, drawn, at, said[unit])}
      <ul>${rows}</ul>
      <details ?hidden=${more.length === 0}><summary>and ${more.length} more</summary><ul>${more}</ul></details>
      ${note ? html`<p class="note">${note}</p>` : nothing}
    </article>`;
  }

  function chart(lines, history, drawn, at, textOf) {
    if (drawn.length < 2) return html`<p class="soft">No values yet.</p>`;
    const most = Math.max(0, ...lines.flatMap((line) => history.map((values) => values[line] ?? 0)));
    const x = (nth) => (nth / (drawn.length - 1)) * width;
    const y = (value) => height - 2 - (value / (most || 1)) * (height - 4);
    const curves = lines.map((line, nth) => {
      const corners = history.map((values, at) => `${x(at).toFixed(1)},${y(values[line] ?? 0).toFixed(1)}`);
      return svg`<polyline class="line-${nth}" points=${corners.join(' ')}></polyline>`;
    });
    // The first line lies on top.
    return html`<div class="chart">
      <span class="most">${textOf(most)}</span>
      <svg viewBox="0 0 240 44" preserveAspectRatio="none" aria-hidden="true">
        ${curves.reverse()}
        <line x1=${x(at)} x2=${x(at)} y1="0" y2=${height}></line>
      </svg>
      <div class="times">${[drawn[0], drawn.at(-1)].map(({ time }) => html`<span>${clock(time).slice(0, 8)}</span>`)}</div>
    </div>`;
  }

  moment.addEventListener('input', show);
  find('minutes').addEventListener('change', show);
  return {
    take: (given) => {
      news = given;
      points = [...points, ...given.points].slice(-900);
      if (given.points.length > 0) show();
    },
  };
}

function locksOf(locks) {
  const rows = locks.map(
    ({ since, until, pid, state, user, application, blocking, waiter, waiting }) => html`<li>
      <time>${clock(since).slice(0, 8)} to ${clock(until).slice(0, 8)}</time>
      ${application || user} (pid ${pid}, ${state}) blocked ${waiter}: <code>${blocking}</code> before <code>${waiting}</code>
    </li>`,
  );
  const none = 'No statement has waited for a lock. This page cannot tell why a store is slow without one.';
  return html`<h3>Locks in Postgres</h3>
    ${rows.length > 0 ? html`<ul>${rows}</ul>` : html`<p class="soft">${none}</p>`}`;
}
