// Metrics of every process.
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { type Attributes, SpanKind } from '@opentelemetry/api';
import {
  counter,
  gauge,
  histogram,
  operationBuckets,
  requestBuckets,
  timed,
  unknownClient,
  upDownCounter,
} from './metrics.ts';

export const runtimeMetrics = {
  serverCalls: histogram({
    name: 'rpc.server.call.duration',
    unit: 's',
    labels: ['rpc.system.name', 'rpc.method', 'error.type'],
    about: 'Calls answered over gRPC; `error.type` is the public code',
    buckets: requestBuckets,
  }),
  clientCalls: histogram({
    name: 'rpc.client.call.duration',
    unit: 's',
    labels: ['rpc.system.name', 'rpc.method', 'error.type'],
    about: 'Calls made over gRPC, including retries',
    buckets: requestBuckets,
  }),
  clientCallsInFlight: upDownCounter({
    name: 'course_exchange.rpc.client.calls_in_flight',
    unit: '{call}',
    labels: ['rpc.method'],
    about: 'Unanswered calls over streams, at the caller; at most 512 of a method',
  }),
  serverCallsInFlight: upDownCounter({
    name: 'course_exchange.rpc.server.calls_in_flight',
    unit: '{call}',
    labels: ['rpc.method'],
    about: 'Unanswered calls over streams, at the server; at most 1,024 of a method',
  }),
  callsRefused: counter({
    name: 'course_exchange.rpc.server.calls_refused',
    unit: '{call}',
    labels: ['rpc.method', 'reason'],
    about: 'Calls that a service refused for overload, such as logins whose hashing queue is full',
  }),
  callStreams: upDownCounter({
    name: 'course_exchange.rpc.client.streams',
    unit: '{stream}',
    labels: ['server.address', 'state'],
    about: 'Open streams that carry calls, by target and `opening`, `serving` or `draining`',
  }),
  storeOperations: histogram({
    name: 'db.client.operation.duration',
    unit: 's',
    labels: ['db.system.name', 'db.operation.name', 'error.type'],
    about: 'Postgres statements, including the wait for a connection, and Redis operations',
    buckets: operationBuckets,
  }),
  connections: upDownCounter({
    name: 'db.client.connection.count',
    unit: '{connection}',
    labels: ['db.client.connection.pool.name', 'db.client.connection.state'],
    about: 'Open connections of a Postgres pool, `idle` and `used`',
  }),
  connectionLimit: upDownCounter({
    name: 'db.client.connection.max',
    unit: '{connection}',
    labels: ['db.client.connection.pool.name'],
    about: 'Size limit of the pool',
  }),
  connectionRequests: upDownCounter({
    name: 'db.client.connection.pending_requests',
    unit: '{request}',
    labels: ['db.client.connection.pool.name'],
    about: 'Statements and transactions waiting for a connection of the pool',
  }),
  connectionWaits: counter({
    name: 'course_exchange.db.connection.waits',
    unit: '{request}',
    labels: ['db.client.connection.pool.name'],
    about: 'Statements and transactions that had to wait for a connection',
  }),
  pipelinedReads: upDownCounter({
    name: 'course_exchange.db.pipeline.reads',
    unit: '{read}',
    labels: ['db.client.connection.pool.name'],
    about: 'Unanswered reads on a shared connection; each waits for those before it',
  }),
  eventLoopDelay: gauge({
    name: 'nodejs.eventloop.delay.p99',
    unit: 's',
    labels: [],
    about: 'Event loop delay since the last reading, 99th percentile',
  }),
  eventLoopLongestDelay: gauge({
    name: 'nodejs.eventloop.delay.max',
    unit: 's',
    labels: [],
    about: 'The longest event loop delay since the last reading',
  }),
  eventLoopUtilization: gauge({
    name: 'nodejs.eventloop.utilization',
    unit: '1',
    labels: [],
    about: 'Share of time in which the event loop was busy since the last reading',
  }),
  securityEvents: counter({
    name: 'course_exchange.security_events',
    unit: '{event}',
    labels: ['event', 'reason', 'client_id'],
    about: 'Security events as logged; `client_id` if the client authenticated or a user decided about it',
  }),
  auditSequence: gauge({
    name: 'course_exchange.audit.sequence',
    unit: '{entry}',
    labels: [],
    about:
      'Number of the newest audit entry, which never falls; from identity with an operator port, from design-catalog with a feed',
  }),
} as const;

/** Events whose client has authenticated, or was chosen by a user. */
const withClient = /^(?:code|refresh_token|grant|consent)\./;

/** `client` is registered. */
export function countSecurityEvent(event: string, reason = '', client: string = unknownClient): void {
  const client_id = withClient.test(event) ? client : unknownClient;
  runtimeMetrics.securityEvents.add({ event, reason, client_id });
}

/** Prometheus sees no increase in the first value of a series. */
export function expectSecurityEvents(events: Readonly<Record<string, readonly string[]>>): void {
  for (const [event, reasons] of Object.entries(events).filter(([name]) => !withClient.test(name)))
    for (const reason of reasons.length === 0 ? [''] : reasons)
      runtimeMetrics.securityEvents.add({ event, reason, client_id: unknownClient }, 0);
}

const histograms = {
  [SpanKind.SERVER]: runtimeMetrics.serverCalls,
  [SpanKind.CLIENT]: runtimeMetrics.clientCalls,
};

/** By its span's attributes: a gRPC call or a store operation. */
export function measured<T>(kind: SpanKind, attributes: Attributes, work: () => Promise<T>): Promise<T> {
  const { 'rpc.method': method, 'db.system.name': system, 'db.operation.name': operation } = attributes;
  if (operation !== undefined) {
    const labels = { 'db.system.name': system, 'db.operation.name': operation };
    return timed(runtimeMetrics.storeOperations, labels, work);
  }
  if (method === undefined || (kind !== SpanKind.SERVER && kind !== SpanKind.CLIENT)) return work();
  return timed(histograms[kind], { 'rpc.system.name': 'grpc', 'rpc.method': method }, work);
}

/** Milliseconds between two samples. */
const resolution = 20;

export function observeEventLoop(): void {
  const delays = monitorEventLoopDelay({ resolution });
  delays.enable();
  const { eventLoopDelay, eventLoopLongestDelay, eventLoopUtilization } = runtimeMetrics;
  let before = performance.eventLoopUtilization();
  // Node counts the time between two samples.
  const seconds = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - resolution / 1e3);
  eventLoopDelay.observe(() => [[seconds(delays.percentile(99)), {}]]);
  eventLoopLongestDelay.observe(() => {
    const longest = seconds(delays.max);
    delays.reset();
    return [[longest, {}]];
  });
  eventLoopUtilization.observe(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    return [[utilization, {}]];
  });
}
