// What counters and histograms have recorded, found by the values of their labels, until a reader of the SDK collects it.
// The SDK's own instruments write the labels as JSON for each value, and none can be bound to its labels (decision 0022).
import { type Attributes, type HrTime, ValueType } from '@opentelemetry/api';
import { millisToHrTime } from '@opentelemetry/core';
import type {
  CollectionResult,
  DataPoint,
  Histogram,
  MetricData,
  MetricReader,
} from '@opentelemetry/sdk-metrics';
import type { MetricDefinition } from './metrics.ts';

/** Of all instruments. */
export const scopeName = 'course-exchange';

type Label = string | number | undefined;
type Labels = { readonly [name: string]: Label };
/** All values with the same labels. */
type Point = Omit<DataPoint<Required<Histogram>>, 'endTime'>;

/** A level for each label, in the order of the definition. */
class Branch extends Map<Label, Branch> {
  point: Point | undefined;
}

/** As the SDK has it: labels beyond these share one point. */
const mostPoints = 2_000;
const overflow = { 'otel.metric.overflow': true };

/** The points of one instrument. A counter is a histogram of which only the sum is told. */
class Series {
  #root = new Branch();
  #points: Point[] = [];
  #resetAt: HrTime | undefined;
  readonly definition: MetricDefinition;

  constructor(definition: MetricDefinition) {
    this.definition = definition;
  }

  record(value: number, labels: Labels): void {
    let branch: Branch | undefined = this.#root;
    for (const name of this.definition.labels) branch = branch?.get(labels[name]);
    const { value: all } = branch?.point ?? this.#begin(labels);
    const { boundaries, counts } = all.buckets;
    let bucket = 0;
    while (value > (boundaries[bucket] ?? Infinity)) bucket += 1;
    counts[bucket] = (counts[bucket] ?? 0) + 1;
    all.count += 1;
    all.sum += value;
    all.min = Math.min(all.min, value);
    all.max = Math.max(all.max, value);
  }

  #begin(labels: Labels): Point {
    const isFull = this.#points.length >= mostPoints - 1;
    const attributes: Attributes = isFull ? overflow : {};
    let branch = this.#root;
    for (const name of isFull ? [] : this.definition.labels) {
      const label = labels[name];
      if (label !== undefined) attributes[name] = label;
      const next = branch.get(label) ?? new Branch();
      branch.set(label, next);
      branch = next;
    }
    if (branch.point !== undefined) return branch.point;
    const boundaries = [...(this.definition.buckets ?? [])];
    const buckets = { boundaries, counts: [0, ...boundaries.map(() => 0)] };
    const value = { buckets, sum: 0, count: 0, min: Infinity, max: -Infinity };
    branch.point = { attributes, startTime: this.#resetAt ?? millisToHrTime(Date.now()), value };
    this.#points.push(branch.point);
    return branch.point;
  }

  /** With `reset` the next ones have only what is recorded from now on. */
  points(endTime: HrTime, reset: boolean): DataPoint<Required<Histogram>>[] {
    const points = this.#points.map((point) => ({ ...point, endTime }));
    if (reset) [this.#root, this.#points, this.#resetAt] = [new Branch(), [], endTime];
    return points;
  }
}

export class Recorder {
  readonly #all: Series[] = [];

  /** Of a histogram where `definition` has buckets, else of a counter. */
  series(definition: MetricDefinition): Series {
    const series = new Series(definition);
    this.#all.push(series);
    return series;
  }

  /** What `reader` has `collected` of the SDK's instruments, and what was recorded here. It is written before more comes. */
  async join(collected: Promise<CollectionResult>, reader: MetricReader): Promise<CollectionResult> {
    const { resourceMetrics, errors } = await collected;
    const { AggregationTemporality, DataPointType, InstrumentType } = await import(
      '@opentelemetry/sdk-metrics'
    );
    // Whatever is preferred, histograms are treated as counters are.
    const aggregationTemporality = reader.selectAggregationTemporality(InstrumentType.COUNTER);
    const endTime = millisToHrTime(Date.now());
    const metrics = this.#all.flatMap((series): MetricData[] => {
      const { name, about: description, unit, buckets } = series.definition;
      const descriptor = { name, description, unit, valueType: ValueType.DOUBLE };
      const dataPoints = series.points(endTime, aggregationTemporality === AggregationTemporality.DELTA);
      const common = { descriptor, aggregationTemporality };
      if (dataPoints.length === 0) return [];
      if (buckets) return [{ ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints }];
      const sums = dataPoints.map((point) => ({ ...point, value: point.value.sum }));
      return [{ ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: sums }];
    });
    const scopeMetrics = [...resourceMetrics.scopeMetrics, { scope: { name: scopeName }, metrics }];
    return { resourceMetrics: { ...resourceMetrics, scopeMetrics }, errors };
  }
}
