// Manifests of the stores beside the chart: what an operator brings. They hold to Pod Security "restricted" and keep their
// data for the run alone.
import type { KubeObject } from './kube.ts';
import { postgresImage, redisImage } from './settings.ts';

export const database = 'course_exchange';

const container = {
  imagePullPolicy: 'IfNotPresent',
  securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  resources: { requests: { cpu: '20m', memory: '64Mi' } },
};
const pod = {
  automountServiceAccountToken: false,
  terminationGracePeriodSeconds: 5,
  securityContext: {
    runAsNonRoot: true,
    runAsUser: 999,
    runAsGroup: 999,
    fsGroup: 999,
    seccompProfile: { type: 'RuntimeDefault' },
  },
};

export const postgres = deployment('postgres', {
  ...pod,
  containers: [
    {
      ...container,
      name: 'postgres',
      image: postgresImage,
      env: [
        { name: 'POSTGRES_DB', value: database },
        { name: 'POSTGRES_PASSWORD_FILE', value: '/run/secrets/postgres_password' },
      ],
      ports: [{ containerPort: 5432 }],
      // Over TCP: the server that only makes the database listens on its socket alone.
      readinessProbe: {
        exec: { command: ['pg_isready', '--host=127.0.0.1', '--username=postgres', `--dbname=${database}`] },
        periodSeconds: 2,
      },
      volumeMounts: [
        { name: 'data', mountPath: '/var/lib/postgresql' },
        { name: 'socket', mountPath: '/var/run/postgresql' },
        { name: 'scripts', mountPath: '/docker-entrypoint-initdb.d' },
        { name: 'start', mountPath: '/run/secrets' },
      ],
    },
  ],
  volumes: [
    { name: 'data', emptyDir: {} },
    { name: 'socket', emptyDir: {} },
    { name: 'scripts', configMap: { name: 'postgres-scripts' } },
    { name: 'start', secret: { secretName: 'postgres-start' } },
  ],
});

/** `redis`, or another name for a replica of it. */
export function redis(name: string): KubeObject {
  // A replica is filled at once, not after the five seconds in which others might ask too.
  const prompt = ['--repl-diskless-sync-delay', '0'];
  const durable = ['--appendonly', 'yes', '--appendfsync', 'always', '--maxmemory-policy', 'noeviction'];
  const following = name === 'redis' ? [] : ['--replicaof', 'redis 6379', '--masterauth', '$(PASSWORD)'];
  return deployment(name, {
    ...pod,
    containers: [
      {
        ...container,
        name: 'redis',
        image: redisImage,
        args: [
          'redis-server',
          '--aclfile',
          '/run/secrets/users.acl',
          '--save',
          '',
          ...prompt,
          ...durable,
          ...following,
        ],
        env: [{ name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'redis-start', key: 'password' } } }],
        ports: [{ containerPort: 6379 }],
        readinessProbe: { tcpSocket: { port: 6379 }, periodSeconds: 2 },
        volumeMounts: [
          { name: 'data', mountPath: '/data' },
          { name: 'start', mountPath: '/run/secrets' },
        ],
      },
    ],
    volumes: [
      { name: 'data', emptyDir: {} },
      { name: 'start', secret: { secretName: 'redis-start' } },
    ],
  });
}

function deployment(name: string, spec: Readonly<Record<string, unknown>>): KubeObject {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: {
      replicas: 1,
      strategy: { type: 'Recreate' },
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec },
    },
  };
}

export function service(name: string, port: number): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { selector: { app: name }, ports: [{ port }] },
  };
}

export function secret(name: string, stringData: Readonly<Record<string, string>>): KubeObject {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData };
}

export function configMap(name: string, data: Readonly<Record<string, string>>): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data };
}
