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
  readonly logs: string;
  /** The address of its health port, by process. */
  readonly processes: Readonly<Record<string, string>>;
}

const tellEveryMs = 150;
const readMetricsEveryMs = 2_000;
const windowReadings = 16;
const maxPoints = 150;
const maxAtOnce = 250;

export async function openObserver({ port, logs, processes }: Observed): Promise<void> {
  const changed = new Set<string>();
  const store = openRequestStore((id) => changed.add(id));
  const readings: Reading[] = [];
  const points: ReturnType<typeof pointOf>[] = [];
  const web = await serveAt(port, {
    takeTraces: (body) => readSpans(body).forEach(store.addSpan),
    requestOf: store.detail,
    greeting: () => [
      ['tiles', { tiles: tiles.map(({ id, title, unit }) => ({ id, title, unit })), points }],
      ['requests', store.summaries()],
    ],
  });
  const follow = Object.keys(processes).map((name) =>
    followFile(join(logs, `${name}.log`), (text) => {
      const line = readLogLine(text);
      if (line) store.addLine(line);
    }),
  );
  setInterval(() => {
    for (const read of follow) read();
    const news = [...changed].slice(-maxAtOnce).flatMap((id) => store.summary(id) ?? []);
    changed.clear();
    if (news.length > 0) web.tell('requests', news);
  }, tellEveryMs).unref();
  setInterval(async () => {
    readings.push({ time: Date.now(), samples: await samplesOf(processes) });
    if (readings.length > windowReadings) readings.shift();
    const point = pointOf(readings);
    points.push(point);
    if (points.length > maxPoints) points.shift();
    web.tell('point', point);
  }, readMetricsEveryMs).unref();
}

function pointOf(readings: readonly Reading[]) {
  const [before = { time: 0, samples: [] }] = readings;
  const now = readings.at(-1) ?? before;
  const values: [string, TileValues][] = tiles.map(({ id, read }) => [id, read(now, before)]);
  return { time: now.time, tiles: Object.fromEntries(values) };
}

async function samplesOf(processes: Observed['processes']): Promise<Reading['samples']> {
  const texts = Object.entries(processes).map(async ([name, address]) => {
    const response = await fetch(`${address}/metrics`, { signal: AbortSignal.timeout(1_500) });
    return readSamples(name, response.ok ? await response.text() : '');
  });
  const read = await Promise.allSettled(texts);
  return read.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
}
