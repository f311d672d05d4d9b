// Metric definitions, from which the instruments and docs/telemetry.md are made. Nothing is counted without a reader.
// A label has few values, none of them a caller's.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Attributes, Meter, MetricOptions, Observable } from '@opentelemetry/api';
import { inOneFlight } from './coalesce.ts';
import { Failure } from './errors.ts';

export interface MetricDefinition<Label extends string = string> {
  /** OpenTelemetry's name if its conventions have one, else `course_exchange.…`. */
  readonly name: string;
  /** UCUM: `s`, `1` for a share, `{token}` for a count. */
  readonly unit: string;
  readonly labels: readonly Label[];
  readonly about: string;
  readonly buckets?: readonly number[];
}

type Labels<Label extends string> = { readonly [L in Label]?: string | number };
type Observations<Label extends string> = readonly (readonly [number, Labels<Label>])[];

export interface Metric {
  readonly kind: 'counter' | 'histogram' | 'gauge' | 'up-down counter';
  readonly definition: MetricDefinition;
}
export type Metrics = Readonly<Record<string, Metric>>;

/** The conventions' buckets, in seconds. */
export const requestBuckets = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
export const operationBuckets = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10];

/** The value of `client_id` without an authenticated client. */
export const unknownClient = 'unknown';

interface Source {
  readonly meter: Meter;
  readonly nameOf: (definition: MetricDefinition) => string;
}

let source: Source | undefined;

export function measureWith(by: Source | undefined): void {
  source = by;
}

type Make<Instrument> = (meter: Meter, name: string, options: MetricOptions) => Instrument;

/** On first use: modules are loaded before telemetry has started. */
function lazily<Instrument>(
  definition: MetricDefinition,
  make: Make<Instrument>,
): () => Instrument | undefined {
  let made: { readonly by: Source; readonly instrument: Instrument } | undefined;
  const { unit, about: description, buckets } = definition;
  const advice = buckets && { explicitBucketBoundaries: [...buckets] };
  const options = { unit, description, ...(advice && { advice }) };
  return () => {
    if (source === undefined) return undefined;
    if (made?.by !== source)
      made = { by: source, instrument: make(source.meter, source.nameOf(definition), options) };
    return made.instrument;
  };
}

export function counter<const Label extends string>(definition: MetricDefinition<Label>) {
  const instrument = lazily(definition, (meter, ...named) => meter.createCounter(...named));
  return {
    kind: 'counter' as const,
    definition,
    add: (labels: Labels<Label>, count = 1): void => instrument()?.add(count, labels),
  };
}

export function histogram<const Label extends string>(
  definition: MetricDefinition<Label> & { readonly buckets: readonly number[] },
) {
  const instrument = lazily(definition, (meter, ...named) => meter.createHistogram(...named));
  return {
    kind: 'histogram' as const,
    definition,
    isRead: () => instrument() !== undefined,
    record: (value: number, labels: Labels<Label>): void => instrument()?.record(value, labels),
  };
}

/** A state, of which a sum over processes says nothing. */
export function gauge<const Label extends string>(definition: MetricDefinition<Label>) {
  return observable('gauge', definition, (meter, ...named) => meter.createObservableGauge(...named));
}

/** A number that can be summed over processes. */
export function upDownCounter<const Label extends string>(definition: MetricDefinition<Label>) {
  return observable('up-down counter', definition, (meter, ...named) =>
    meter.createObservableUpDownCounter(...named),
  );
}

/** How long a reading waits for a value (ms). */
const observationMs = 1_000;

function observable<Kind extends Metric['kind'], Label extends string>(
  kind: Kind,
  definition: MetricDefinition<Label>,
  make: Make<Observable>,
) {
  const instrument = lazily(definition, make);
  return {
    kind,
    definition,
    /** Called by each reading. A value that takes too long is left out. */
    observe: (read: () => Observations<Label> | Promise<Observations<Label>>): void => {
      // A store that hangs is not asked again meanwhile.
      const readOnce = inOneFlight(async () => read());
      instrument()?.addCallback(async (result) => {
        const timedOut = sleep(observationMs, [], { ref: false });
        const observations = await Promise.race([readOnce(), timedOut]).catch(() => []);
        for (const [value, labels] of observations) result.observe(value, labels);
      });
    },
  };
}

/** Milliseconds since it was made. */
export function stopwatch(): () => number {
  const begun = performance.now();
  return () => performance.now() - begun;
}

type Histogram = ReturnType<typeof histogram<string>>;

/** The suffixes of Prometheus names that collectors add, too. */
const unitSuffixes: Readonly<Record<string, string>> = { s: '_seconds', 1: '_ratio' };

export function nameWithUnit({ name, unit }: { readonly name: string; readonly unit: string }): string {
  return name + (unitSuffixes[unit] ?? '');
}

/** Records the seconds of `work`, with `error.type` or the labels `labelsOf` the result. */
export async function timed<T>(
  durations: Histogram,
  labels: Attributes,
  work: () => Promise<T>,
  labelsOf?: (result: T) => Attributes,
): Promise<T> {
  if (!durations.isRead()) return work();
  const elapsed = stopwatch();
  const record = (ending: Attributes) => durations.record(elapsed() / 1_000, ending as Labels<string>);
  try {
    const result = await work();
    record(labelsOf === undefined ? labels : { ...labels, ...labelsOf(result) });
    return result;
  } catch (error) {
    record({ ...labels, 'error.type': errorType(error) });
    throw error;
  }
}

/** Never the message (R27). */
export function errorType(error: unknown): string {
  if (error instanceof Failure) return error.code;
  return error instanceof Error ? error.name : 'unknown';
}
