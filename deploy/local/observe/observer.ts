// The page of `start --observe`: takes the services' traces as an OTLP collector does, reads their logs and metrics, and
// shows them at loopback. All of it is in memory, bounded, and gone with the stack.
import { join } from 'node:path';
import { followFile, readLogLine } from './log-lines.ts';
import { type Reading, readSamples, type TileValues, tiles } from './metrics.ts';
import { readSpans } from './otlp.ts';
import { openRequestStore } from './request-store.ts';
import { serveAt } from './web.ts';

export interface Observed {
  readonly port: number;
  /** Folder of the logs. */
  readonly logs: string;
  /** The address of its health port, by process. */
  readonly processes: Readonly<Record<string, string>>;
}

const tellEveryMs = 150;
const readMetricsEveryMs = 2_000;
/** Rates and quantiles are those of the last half minute. */
const windowReadings = 16;
/** Five minutes of tiles. */
const maxPoints = 150;
/** Of a burst the pages have the newest. */
const maxAtOnce = 250;

export async function openObserver({ port, logs, processes }: Observed) {
  const changed = new Set<string>();
  const store = openRequestStore((id) => changed.add(id));
  const metrics = openTiles(processes);
  const web = await serveAt(port, {
    takeTraces: (body) => readSpans(body).forEach(store.addSpan),
    requestOf: store.detail,
    greeting: () => [
      ['tiles', metrics.history()],
      ['requests', store.summaries()],
    ],
  });
  const follow = Object.keys(processes).map((name) =>
    followFile(join(logs, `${name}.log`), (text) => {
      const line = readLogLine(text);
      if (line) store.addLine(line);
    }),
  );
  const tellNews = () => {
    for (const read of follow) read();
    const news = [...changed].slice(-maxAtOnce).flatMap((id) => store.summary(id) ?? []);
    changed.clear();
    if (news.length > 0) web.tell('requests', news);
  };
  const timers = [
    setInterval(tellNews, tellEveryMs).unref(),
    setInterval(
      () => void metrics.read().then((point) => web.tell('point', point)),
      readMetricsEveryMs,
    ).unref(),
  ];
  return {
    close: (): void => {
      timers.forEach(clearInterval);
      web.close();
    },
  };
}

interface Point {
  readonly time: number;
  readonly tiles: Readonly<Record<string, TileValues>>;
}

function openTiles(processes: Observed['processes']) {
  const points: Point[] = [];
  const readings: Reading[] = [];
  return {
    history: () => ({ tiles: tiles.map(({ id, title, unit }) => ({ id, title, unit })), points }),
    read: async (): Promise<Point> => {
      const now = { time: Date.now(), samples: await samplesOf(processes) };
      readings.push(now);
      if (readings.length > windowReadings) readings.shift();
      const [before = now] = readings;
      const values = Object.fromEntries(tiles.map(({ id, read }) => [id, read(now, before)]));
      const point = { time: now.time, tiles: values };
      points.push(point);
      if (points.length > maxPoints) points.shift();
      return point;
    },
  };
}

/** Of those that answer. */
async function samplesOf(processes: Observed['processes']): Promise<Reading['samples']> {
  const texts = Object.entries(processes).map(async ([name, address]) => {
    const response = await fetch(`${address}/metrics`, { signal: AbortSignal.timeout(1_500) });
    return readSamples(name, response.ok ? await response.text() : '');
  });
  const read = await Promise.allSettled(texts);
  return read.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
}
