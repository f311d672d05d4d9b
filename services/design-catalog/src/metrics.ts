// The design catalog's metrics.
import { counter, gauge, histogram, requestBuckets } from '@course-exchange/runtime/process/metrics';

export const catalogMetrics = {
  listItems: histogram({
    name: 'course_exchange.list.items',
    unit: '{item}',
    labels: ['list'],
    about: 'Size of the lists answered: `events` of a user, `designs` of an Event',
    buckets: [0, 1, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000],
  }),
  listDuration: histogram({
    name: 'course_exchange.list.duration',
    unit: 's',
    labels: ['list', 'size', 'error.type'],
    about:
      'Reading a list from Postgres; `size` is `small` up to 100 items, `medium` up to 1,000, else `large`; absent if it failed',
    buckets: requestBuckets,
  }),
  tokensRefused: counter({
    name: 'course_exchange.access_tokens.refused',
    unit: '{token}',
    labels: ['reason', 'client_id'],
    about: 'Access tokens refused by the resource API, by reason; `client_id` of a token that we signed',
  }),
  verificationKeys: gauge({
    name: 'course_exchange.key_set.keys',
    unit: '{key}',
    labels: ['kid'],
    about: 'Always 1, for each key with which this process verifies access tokens',
  }),
} as const;
