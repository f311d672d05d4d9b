// The metrics as tiles: what each says at one moment, line by line, and its last minutes drawn; and the locks of Postgres.
import { clock, drawing, duration, element } from './elements.js';

const maxLines = 4;
const [width, height] = [240, 44];
const find = (id) => document.getElementById(id);

const said = {
  'per second': (value) => `${value.toFixed(value >= 9.95 ? 0 : value >= 0.095 ? 1 : 2)} /s`,
  seconds: (value) => (value < 120 ? duration(value * 1000) : `${Math.round(value / 60)} min`),
  count: (value) => String(Math.round(value)),
};

/** `filterBy` lists the requests that have these words. */
export function openTiles(filterBy) {
  /** Titles of the tiles whose further lines are shown. */
  const unfolded = new Set();
  let points = [];
  let news = { tiles: [], locks: [] };
  const moment = find('moment');
  const isNow = () => moment.value === moment.max;

  function render() {
    const from = Date.now() - Number(find('minutes').value) * 60_000;
    const drawn = points.filter(({ time }) => time >= from);
    const at = isNow() ? drawn.length - 1 : Math.round((drawn.length - 1) * (moment.value / moment.max));
    find('at').textContent = isNow() || !drawn[at] ? 'now' : clock(drawn[at].time).slice(0, 8);
    const focused = document.activeElement?.closest('[data-line]')?.dataset.line;
    find('tiles').replaceChildren(...news.tiles.map((shape) => tile(shape, drawn, at)));
    if (focused)
      find('tiles')
        .querySelector(`[data-line="${CSS.escape(focused)}"]`)
        ?.focus();
    find('locks').replaceChildren(...locksOf(news.locks));
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
      const value = now[line] === undefined ? '–' : said[unit](now[line]);
      const total = isNow() && totals?.[line] !== undefined && `${totals[line]} ${of}`;
      const button = element('button', { type: 'button', 'data-line': `${id} ${line}` }, line);
      button.addEventListener('click', () => filterBy(line.replaceAll(': ', ' ')));
      return element(
        `li.line-${nth}`,
        filters ? button : element('span', line),
        element('strong', value),
        total && element('small.total', total),
      );
    });
    // A rare event counts as much as a frequent one.
    const more = rows.splice(of === 'in all' ? 3 * maxLines : maxLines);
    const rest = element(
      'details',
      { open: unfolded.has(id) && '' },
      element('summary', `and ${more.length} more`),
      element('ul', ...more),
    );
    rest.addEventListener('toggle', () => (rest.open ? unfolded.add(id) : unfolded.delete(id)));
    return element(
      'article.tile',
      { 'data-tile': id },
      element('div', element('h3', title), values.length > 0 && element('p', said[unit](headline))),
      chart(lines.slice(0, maxLines), history, drawn, at, said[unit]),
      element('ul', ...rows),
      more.length > 0 && rest,
      note && element('p.note', note),
    );
  }

  function chart(lines, history, drawn, at, textOf) {
    if (drawn.length < 2) return element('p.soft', 'No values yet.');
    const most = Math.max(0, ...lines.flatMap((line) => history.map((values) => values[line] ?? 0)));
    const x = (nth) => (nth / (drawn.length - 1)) * width;
    const y = (value) => height - 2 - (value / (most || 1)) * (height - 4);
    // The first line lies on top.
    const curves = lines.map((line, nth) => {
      const corners = history.map((values, at) => `${x(at).toFixed(1)},${y(values[line] ?? 0).toFixed(1)}`);
      return drawing(`polyline.line-${nth}`, { points: corners.join(' ') });
    });
    const mark = drawing('line', { x1: x(at), x2: x(at), y1: 0, y2: height });
    const shape = { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' };
    const plot = drawing('svg', shape, ...curves.reverse(), mark);
    plot.addEventListener('pointerdown', ({ clientX }) => {
      const { left, width } = plot.getBoundingClientRect();
      moment.value = ((clientX - left) / width) * moment.max;
      render();
    });
    const ends = [drawn[0], drawn.at(-1)].map(({ time }) => element('span', clock(time).slice(0, 8)));
    return element('div.chart', element('span.most', textOf(most)), plot, element('div.times', ...ends));
  }

  moment.addEventListener('input', render);
  find('minutes').addEventListener('change', render);
  return {
    take: (told) => {
      news = told;
      points = [...points, ...told.points].slice(-900);
      if (told.points.length > 0) render();
    },
  };
}

function locksOf(locks) {
  const rows = locks.map(({ since, until, pid, state, user, application, blocking, waiter, waiting }) =>
    element(
      'li',
      element('time', `${clock(since).slice(0, 8)} to ${clock(until).slice(0, 8)} `),
      `${application || user} (pid ${pid}, ${state}) blocked ${waiter}: `,
      element('code', blocking),
      ' before ',
      element('code', waiting),
    ),
  );
  const none =
    'No statement has waited for a lock. If a store is slow without one, this page cannot tell its cause.';
  return [
    element('h3', 'Locks in Postgres'),
    rows.length > 0 ? element('ul', ...rows) : element('p.soft', none),
  ];
}
