// What is recorded here is told as the SDK's own instruments would tell it.
import {
  AggregationTemporality,
  MeterProvider,
  type MetricData,
  MetricReader,
} from '@opentelemetry/sdk-metrics';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Recorder } from './recorder.ts';

const { CUMULATIVE, DELTA } = AggregationTemporality;

class Reader extends MetricReader {
  protected async onShutdown(): Promise<void> {}
  protected async onForceFlush(): Promise<void> {}
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: 1_000 }));
afterEach(() => void vi.useRealTimers());

const about = { unit: 's', about: 'Tests' };
const seconds = {
  name: 'test.duration',
  labels: ['route', 'status', 'code'],
  buckets: [0.005, 0.01, 1],
  ...about,
};
const tests = { name: 'test.count', labels: ['route', 'status', 'code'], ...about };

/** Both instruments, here and of the SDK; `collected` gives what each side tells. */
function bothSides(temporality: AggregationTemporality) {
  const reader = new Reader({ aggregationTemporalitySelector: () => temporality });
  const meter = new MeterProvider({ readers: [reader] }).getMeter('course-exchange');
  const recorder = new Recorder();
  const options = { unit: 's', description: 'Tests' };
  const advice = { explicitBucketBoundaries: [...seconds.buckets] };
  const ours = [recorder.series(seconds), recorder.series(tests)];
  const [durations, counts] = [
    meter.createHistogram(seconds.name, { ...options, advice }),
    meter.createCounter(tests.name, options),
  ];
  return {
    record: (value: number, labels: { readonly [name: string]: string | number }) => {
      for (const series of ours) series.record(value, labels);
      durations.record(value, labels);
      counts.add(value, labels);
    },
    collected: async () => {
      vi.advanceTimersByTime(1_000);
      const { scopeMetrics } = (await recorder.join(reader.collect(), reader)).resourceMetrics;
      expect(scopeMetrics.every(({ scope }) => scope.name === 'course-exchange')).toBe(true);
      const own = scopeMetrics.at(-1)?.metrics ?? [];
      const sdk = scopeMetrics.length > 1 ? (scopeMetrics[0]?.metrics ?? []) : [];
      return { own: structuredClone(own), sdk: sdk.map(withoutInternals) };
    },
  };
}

function withoutInternals(metric: MetricData) {
  const { name, description, unit, valueType } = metric.descriptor;
  return { ...structuredClone(metric), descriptor: { name, description, unit, valueType } };
}

const token = { route: '/token', status: 200 };
const refused = { route: '/token', status: 400, code: 'invalid_grant' };

test.each([
  ['since the start', CUMULATIVE],
  ['since the last collection', DELTA],
])('values, bounds of buckets, labels and times, %s', async (_name, temporality) => {
  const { record, collected } = bothSides(temporality);
  for (const value of [0.005, 0.0051, 0.01, 1, 7]) record(value, token);
  vi.advanceTimersByTime(10);
  record(0.3, refused);
  const first = await collected();
  expect(first.own).toEqual(first.sdk);
  expect(first.own).toHaveLength(2);
  record(0.002, token);
  const second = await collected();
  expect(second.own).toEqual(second.sdk);
  expect(second.own[0]?.dataPoints).toHaveLength(temporality === DELTA ? 1 : 2);
});

test('what nobody has recorded is not told, and what is new since a collection begins there', async () => {
  const { record, collected } = bothSides(DELTA);
  expect((await collected()).own).toEqual([]);
  vi.advanceTimersByTime(10);
  record(1, token);
  const [{ dataPoints } = { dataPoints: [] }] = (await collected()).own;
  expect(dataPoints).toMatchObject([{ startTime: [2, 0], endTime: [3, 10_000_000] }]);
  expect((await collected()).own).toEqual([]);
});

test('of more labels than the SDK keeps apart the rest share a point, which has all of their values', async () => {
  const { record, collected } = bothSides(CUMULATIVE);
  for (let made = 0; made < 2_100; made += 1) record(1, { route: `made-up-${made}`, status: 404 });
  record(1, { route: 'made-up-2', status: 404 });
  const { own, sdk } = await collected();
  expect(own).toEqual(sdk);
  expect(own[1]?.dataPoints).toHaveLength(2_000);
  expect(own[1]?.dataPoints.at(-1)).toMatchObject({
    attributes: { 'otel.metric.overflow': true },
    value: 101,
  });
});
