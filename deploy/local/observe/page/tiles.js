// The metrics as tiles: what each says now, line by line, and five minutes of it drawn.
import { drawing, duration, element } from './elements.js';

const maxPoints = 150;
const maxLines = 4;
const [width, height] = [240, 44];

export function openTiles(place) {
  let shapes = [];
  let points = [];
  const render = () => place.replaceChildren(...shapes.map((shape) => tile(shape, points)));
  return {
    begin: (told) => {
      shapes = told.tiles;
      points = told.points;
      render();
    },
    add: (point) => {
      points = [...points, point].slice(-maxPoints);
      render();
    },
  };
}

const said = {
  'per second': (value) =>
    value >= 9.95 ? value.toFixed(0) : value >= 0.095 ? value.toFixed(1) : value.toFixed(2),
  seconds: (value) => duration(value * 1000),
  count: (value) => String(Math.round(value)),
};

function tile({ id, title, unit }, points) {
  const now = points.at(-1)?.tiles[id] ?? {};
  const peaks = {};
  for (const point of points)
    for (const [line, value] of Object.entries(point.tiles[id] ?? {}))
      peaks[line] = Math.max(peaks[line] ?? 0, value);
  const lines = Object.keys(peaks).sort((a, b) => (now[b] ?? 0) - (now[a] ?? 0) || peaks[b] - peaks[a]);
  const shown = lines.slice(0, maxLines);
  const values = Object.values(now);
  const headline =
    unit === 'seconds' ? Math.max(0, ...values) : values.reduce((sum, value) => sum + value, 0);
  const text =
    values.length === 0 && unit === 'seconds'
      ? '–'
      : `${said[unit](headline)}${unit === 'per second' ? ' /s' : ''}`;
  return element(
    'article',
    { class: 'tile', 'data-tile': id },
    element('div', {}, element('h3', {}, title), element('p', {}, text)),
    sparkline(
      shown,
      points.map((point) => point.tiles[id] ?? {}),
    ),
    element(
      'ul',
      {},
      ...shown.map((line, nth) =>
        element(
          'li',
          { class: `line-${nth}` },
          element('span', {}, line),
          element('strong', {}, now[line] === undefined ? '–' : said[unit](now[line])),
        ),
      ),
      lines.length > maxLines
        ? element('li', { class: 'others' }, `and ${lines.length - maxLines} more`)
        : undefined,
    ),
  );
}

function sparkline(lines, points) {
  const most = Math.max(
    ...lines.flatMap((line) => points.map((values) => values[line] ?? 0)),
    Number.MIN_VALUE,
  );
  const x = (nth) => width - (points.length - 1 - nth) * (width / (maxPoints - 1));
  const y = (value) => height - 2 - (value / most) * (height - 4);
  // The first line lies on top.
  const curves = lines.map((line, nth) => {
    const corners = points.map((values, at) => `${x(at).toFixed(1)},${y(values[line] ?? 0).toFixed(1)}`);
    return drawing('polyline', { class: `line-${nth}`, points: corners.join(' ') });
  });
  return drawing(
    'svg',
    { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    ...curves.reverse(),
  );
}
