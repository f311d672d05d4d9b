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
      ({ tiles: shapes, points } = told);
      render();
    },
    add: (point) => {
      points = [...points, point].slice(-maxPoints);
      render();
    },
  };
}

const said = {
  'per second': (value) => `${value.toFixed(value >= 9.95 ? 0 : value >= 0.095 ? 1 : 2)} /s`,
  seconds: (value) => duration(value * 1000),
  count: (value) => String(Math.round(value)),
};

function tile({ id, title, unit }, points) {
  const history = points.map((point) => point.tiles[id] ?? {});
  const now = history.at(-1) ?? {};
  const peaks = {};
  for (const values of history)
    for (const [line, value] of Object.entries(values)) peaks[line] = Math.max(peaks[line] ?? 0, value);
  const lines = Object.keys(peaks).sort((a, b) => (now[b] ?? 0) - (now[a] ?? 0) || peaks[b] - peaks[a]);
  const shown = lines.slice(0, maxLines);
  const textOf = (value) => (value === undefined ? '–' : said[unit](value));
  const values = Object.values(now);
  const headline = unit === 'seconds' ? values.sort((a, b) => b - a)[0] : values.reduce((a, b) => a + b, 0);
  const rows = shown.map((line, nth) =>
    element(`li.line-${nth}`, element('span', line), element('strong', textOf(now[line]))),
  );
  const more = lines.length - shown.length;
  return element(
    'article.tile',
    { 'data-tile': id },
    element('div', element('h3', title), element('p', textOf(headline))),
    sparkline(shown, history),
    element('ul', ...rows, more > 0 && element('li.others', `and ${more} more`)),
  );
}

function sparkline(lines, history) {
  const heights = lines.flatMap((line) => history.map((values) => values[line] ?? 0));
  const most = Math.max(...heights, Number.MIN_VALUE);
  const x = (nth) => width - (history.length - 1 - nth) * (width / (maxPoints - 1));
  const y = (value) => height - 2 - (value / most) * (height - 4);
  // The first line lies on top.
  const curves = lines.map((line, nth) => {
    const corners = history.map((values, at) => `${x(at).toFixed(1)},${y(values[line] ?? 0).toFixed(1)}`);
    return drawing(`polyline.line-${nth}`, { points: corners.join(' ') });
  });
  const shape = { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' };
  return drawing('svg', shape, ...curves.reverse());
}
