// The gateway's metrics.
import {
  counter,
  gauge,
  histogram,
  requestBuckets,
  upDownCounter,
} from '@course-exchange/runtime/process/metrics';

export const gatewayMetrics = {
  requests: histogram({
    name: 'http.server.request.duration',
    unit: 's',
    labels: ['http.request.method', 'url.scheme', 'http.route', 'http.response.status_code', 'error.type'],
    about:
      'Answers by route, if there is one. `error.type` is the code from status 500 on, or `connection_closed` if the client disconnected first (then perhaps without status). Requests that are not valid HTTP (400, 408, 431) take 0 s',
    buckets: requestBuckets,
  }),
  clientRequests: counter({
    name: 'course_exchange.client.requests',
    unit: '{request}',
    labels: ['client_id', 'http.route', 'error.type'],
    about:
      'Answers to clients, by route and code; `client_id` if a service authenticated the client or knows the token as its own, even when it refuses it (an expired token, a foreign code)',
  }),
  workAdmitted: upDownCounter({
    name: 'course_exchange.work.admitted',
    unit: '{request}',
    labels: ['work'],
    about: 'Running and queued requests, by class',
  }),
  workRunning: upDownCounter({
    name: 'course_exchange.work.running',
    unit: '{request}',
    labels: ['work'],
    about: 'Running requests, by class',
  }),
  workCapacity: gauge({
    name: 'course_exchange.work.capacity',
    unit: '{request}',
    labels: ['work'],
    about: 'Capacity of the class: the most running and queued requests',
  }),
  workRefused: counter({
    name: 'course_exchange.work.refused',
    unit: '{request}',
    labels: ['work', 'reason'],
    about:
      'Requests refused for overload, by class and reason; `no_capacity`: the class or the network is at its capacity',
  }),
} as const;

/** The `error.type` of an answer that the client did not read. */
export const connectionClosed = 'connection_closed';

const namedMethods = /^(?:CONNECT|DELETE|GET|HEAD|OPTIONS|PATCH|POST|PUT|TRACE)$/;

/** Other methods are `_OTHER` (OpenTelemetry semantic conventions). */
export function namedMethod(method: string): string {
  return namedMethods.test(method) ? method : '_OTHER';
}
