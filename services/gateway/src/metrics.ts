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
      'Answers, by route; without `http.route` where there is none. `error.type` is the code from status 500 on, and `connection_closed` where nobody took the answer, which has no status where it had not begun. What is no HTTP (400, 408, 431) takes 0 s',
    buckets: requestBuckets,
  }),
  clientRequests: counter({
    name: 'course_exchange.client.requests',
    unit: '{request}',
    labels: ['client_id', 'http.route', 'error.type'],
    about:
      'Answers to clients: their routes and codes; `client_id` where a service found the secret or token to be of that client, also where it refuses it: an expired token, a foreign code',
  }),
  workAdmitted: upDownCounter({
    name: 'course_exchange.work.admitted',
    unit: '{request}',
    labels: ['work'],
    about: 'Requests in work and queued, by class of admission',
  }),
  workRunning: upDownCounter({
    name: 'course_exchange.work.running',
    unit: '{request}',
    labels: ['work'],
    about: 'Requests in work, by class of admission',
  }),
  workRoom: gauge({
    name: 'course_exchange.work.room',
    unit: '{request}',
    labels: ['work'],
    about: 'Capacity of the class: requests in work and queued at most',
  }),
  workRefused: counter({
    name: 'course_exchange.work.refused',
    unit: '{request}',
    labels: ['work', 'reason'],
    about: 'Requests refused for overload, by class and reason; `no room`: the class or the network had none',
  }),
} as const;

/** The `error.type` of an answer that the client did not read. */
export const connectionClosed = 'connection_closed';

const namedMethods = /^(?:CONNECT|DELETE|GET|HEAD|OPTIONS|PATCH|POST|PUT|TRACE)$/;

/** Other methods are `_OTHER` (OpenTelemetry semantic conventions). */
export function namedMethod(method: string): string {
  return namedMethods.test(method) ? method : '_OTHER';
}
