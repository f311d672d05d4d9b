// Service health: whether what is promised is kept; if not, which hop, store or queue it is.
import { runtimeMetrics } from '@course-exchange/runtime/process/runtime-metrics';
import { catalogMetrics } from '../../../services/design-catalog/src/metrics.ts';
import { gatewayMetrics } from '../../../services/gateway/src/metrics.ts';
import { identityMetrics as identity } from '../../../services/identity/src/metrics.ts';
import { errorShare } from '../objectives.ts';
import { chosen, type DashboardSource, events, quantile, rate, series } from '../panels.ts';

const { requests, workAdmitted, workRoom } = gatewayMetrics;
const { storeOperations, connectionRequests, connectionWaits, pipelinedReads } = runtimeMetrics;
const perRoute = '{{http_route}}';

export const service: DashboardSource = {
  uid: 'course-exchange-service',
  title: 'Course exchange: service health',
  about: 'Whether what is promised is kept; if not, which hop, store or queue it is.',
  rows: {
    'Is what is promised kept?': [
      {
        title: 'Share that goes wrong, last hour',
        about: 'By objective; docs/runbook.md says what each promises.',
        unit: 'percentunit',
        queries: { '{{objective}}': errorShare('1h', chosen) },
      },
      {
        title: 'Answers by route',
        about: 'What is asked at all.',
        unit: 'reqps',
        queries: { [perRoute]: `sum by (http_route) (${rate(series(requests))})` },
      },
      {
        title: 'Failures by route and code',
        about: 'Only those that are ours: 500 and above.',
        unit: 'reqps',
        queries: {
          '{{http_route}} {{error_type}}': `sum by (http_route, error_type) (${rate(series(requests, { 'http.response.status_code': '=~5..' }))})`,
        },
      },
    ],
    'Which hop is slow?': [
      {
        title: 'Time to answer, 99 %',
        about: 'At the gateway, by route.',
        unit: 's',
        queries: { [perRoute]: quantile(0.99, requests, 'http_route') },
      },
      {
        title: 'Calls between services, 99 %',
        about: 'What the caller waits beside what the service needs: the difference is the wire.',
        unit: 's',
        queries: {
          'waited {{rpc_method}}': quantile(0.99, runtimeMetrics.clientCalls, 'rpc_method'),
          'needed {{rpc_method}}': quantile(0.99, runtimeMetrics.serverCalls, 'rpc_method'),
        },
      },
      {
        title: 'Store operations, 99 %',
        about: 'Statements of Postgres with their wait for a connection, and operations of Redis.',
        unit: 's',
        queries: {
          '{{db_system_name}} {{db_operation_name}}': quantile(
            0.99,
            storeOperations,
            'db_system_name, db_operation_name',
          ),
        },
      },
    ],
    'Is it the store, the pool or the process?': [
      {
        title: 'Store operations that fail',
        about: 'By code.',
        unit: 'ops',
        queries: {
          '{{db_operation_name}} {{error_type}}': `sum by (db_operation_name, error_type) (${rate(series(storeOperations, { 'error.type': '!=' }))})`,
        },
      },
      {
        title: 'Waits for a connection to Postgres',
        about: 'Per second, and those that wait now; reads that share one connection, unanswered now.',
        unit: 'short',
        queries: {
          'begun {{component}} {{db_client_connection_pool_name}}': `sum by (component, db_client_connection_pool_name) (${rate(series(connectionWaits))})`,
          'now {{component}} {{db_client_connection_pool_name}}': `sum by (component, db_client_connection_pool_name) (${series(connectionRequests)})`,
          'shared {{component}}': `sum by (component) (${series(pipelinedReads)})`,
        },
      },
      {
        title: 'Event loop in use',
        about: 'Near 1, the process itself is the limit.',
        unit: 'percentunit',
        queries: { '{{component}} {{instance}}': series(runtimeMetrics.eventLoopUtilization) },
      },
    ],
    'Is there more to do than can be done?': [
      {
        title: 'Requests admitted, of the room',
        about: 'By class of admission.',
        unit: 'short',
        queries: {
          'admitted {{work}}': `sum by (work) (${series(workAdmitted)})`,
          'room {{work}}': `sum by (work) (${series(workRoom)})`,
        },
      },
      {
        title: 'Refused for overload',
        about:
          'By class at the gateway, by call behind it, in 15 minutes; anything above zero is seen by partners.',
        unit: 'short',
        queries: {
          '{{work}} {{reason}}': events('work, reason', 'work_refused'),
          '{{rpc_method}} {{reason}}': events('rpc_method, reason', 'calls_refused'),
        },
      },
      {
        title: 'Logins at the hashing queue',
        about: 'Running and waiting, all pods together.',
        unit: 'short',
        queries: { '{{state}}': `sum by (state) (${series(identity.passwordHashing)})` },
      },
    ],
    'Are Redis and the lists what they should be?': [
      {
        title: 'Redis',
        about: 'Share of maxmemory; settings that may lose tokens; replicas beside those required.',
        unit: 'short',
        queries: {
          memory: `max(${series(identity.redisMemory)})`,
          'wrong settings': `max(${series(identity.redisSettings)})`,
          replicas: `min(${series(identity.redisReplicas)})`,
          'replicas required': `max(${series(identity.redisReplicasRequired)})`,
        },
      },
      {
        title: 'Lists by size, 99 %',
        about: 'Time that reading them from Postgres takes.',
        unit: 's',
        queries: { '{{size}}': quantile(0.99, catalogMetrics.listDuration, 'size') },
      },
      {
        title: 'Length of lists, 99 %',
        about: 'Items.',
        unit: 'short',
        queries: { '{{list}}': quantile(0.99, catalogMetrics.listItems, 'list') },
      },
    ],
  },
};
