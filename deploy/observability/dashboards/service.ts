// Service health: whether what is promised is kept; if not, which hop, store or queue it is.
import { runtimeMetrics as runtime } from '@course-exchange/runtime/process/runtime-metrics';
import { catalogMetrics } from '../../../services/design-catalog/src/metrics.ts';
import { gatewayMetrics } from '../../../services/gateway/src/metrics.ts';
import { identityMetrics as identity } from '../../../services/identity/src/metrics.ts';
import { errorShare } from '../objectives.ts';
import { chosen, type DashboardSource, events, gauge, rate, series, slowest } from '../panels.ts';

const { requests, workAdmitted, workCapacity } = gatewayMetrics;
const failed = series(requests, { 'http.response.status_code': '=~5..' });
const pool = 'component, db_client_connection_pool_name';

export const service: DashboardSource = {
  uid: 'course-exchange-service',
  title: 'Course exchange: service health',
  about: 'Whether what is promised is kept; if not, which hop, store or queue it is.',
  rows: {
    'Is what is promised kept?': {
      'Share that goes wrong, last hour': [
        'By objective; docs/on-call.md says what each promises.',
        { '{{objective}}': errorShare('1h', chosen) },
        'percentunit',
      ],
      'Answers by route': ['What is asked at all.', rate('http_route', series(requests)), 'reqps'],
      'Failures by route and code': [
        'Only those that are ours: 500 and above.',
        rate('http_route, error_type', failed),
        'reqps',
      ],
    },
    'Which hop is slow?': {
      'Time to answer, 99 %': ['At the gateway, by route.', slowest('http_route', requests), 's'],
      'Calls between services, 99 %': [
        'What the caller waits beside what the service needs: the difference is the wire.',
        {
          ...slowest('rpc_method', runtime.clientCalls, 'waited'),
          ...slowest('rpc_method', runtime.serverCalls, 'needed'),
        },
        's',
      ],
      'Store operations, 99 %': [
        'Statements of Postgres with their wait for a connection, and operations of Redis.',
        slowest('db_system_name, db_operation_name', runtime.storeOperations),
        's',
      ],
    },
    'Is it the store, the pool or the process?': {
      'Store operations that fail': [
        'By code.',
        rate('db_operation_name, error_type', series(runtime.storeOperations, { 'error.type': '!=' })),
        'ops',
      ],
      'Waits for a connection to Postgres': [
        'Per second, and those that wait now; reads that share one connection, unanswered now.',
        {
          ...rate(pool, series(runtime.connectionWaits)),
          ...gauge('sum', pool, series(runtime.connectionRequests), 'now'),
          ...gauge('sum', 'component', series(runtime.pipelinedReads), 'shared'),
        },
      ],
      'Event loop in use': [
        'Near 1, the process itself is the limit.',
        { '{{component}} {{instance}}': series(runtime.eventLoopUtilization) },
        'percentunit',
      ],
    },
    'Is there more to do than can be done?': {
      'Requests admitted, and capacity': [
        'By class of admission.',
        {
          ...gauge('sum', 'work', series(workAdmitted), 'admitted'),
          ...gauge('sum', 'work', series(workCapacity), 'capacity'),
        },
      ],
      'Refused for overload': [
        'By class at the gateway, by call behind it, in 15 minutes; anything above zero is seen by partners.',
        { ...events('work, reason', 'work_refused'), ...events('rpc_method, reason', 'calls_refused') },
      ],
      'Logins at the hashing queue': [
        'Running and waiting, all pods together.',
        gauge('sum', 'state', series(identity.passwordHashing)),
      ],
    },
    'Are Redis and the lists what they should be?': {
      Redis: [
        'Share of maxmemory; settings that may lose tokens; replicas beside those required.',
        {
          memory: `max(${series(identity.redisMemory)})`,
          'wrong settings': `max(${series(identity.redisSettings)})`,
          replicas: `min(${series(identity.redisReplicas)})`,
          'replicas required': `max(${series(identity.redisReplicasRequired)})`,
        },
      ],
      'Lists by size, 99 %': [
        'Time that reading them from Postgres takes.',
        slowest('size', catalogMetrics.listDuration),
        's',
      ],
      'Length of lists, 99 %': ['Items.', slowest('list', catalogMetrics.listItems)],
    },
  },
};
