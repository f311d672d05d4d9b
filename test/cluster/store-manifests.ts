// Manifests of the stores beside the chart: what an operator brings. They hold to Pod Security "restricted" and keep their
// data for the run alone, in memory: a node's disk that images and etcd share would be measured in place of a roll-out.
import type { Certificate } from './certificates.ts';
import type { KubeObject } from './kube.ts';
import { postgresImage, redisImage } from './settings.ts';

export const database = 'course_exchange';

/** No probe after the start: one that comes late on a busy node would take the store from its Service. */
const untilStarted = { periodSeconds: 2, timeoutSeconds: 5, failureThreshold: 60 };
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

/** Certificate, key and authority of the stores, where they speak TLS alone. */
const tlsDirectory = '/run/tls';
const tlsMount = { name: 'tls', mountPath: tlsDirectory };
// Postgres takes a key of root that its own group may read.
const tlsVolume = { name: 'tls', secret: { secretName: 'stores-tls', defaultMode: 0o640 } };
const [certificateFile, keyFile, authorityFile] = ['tls.crt', 'tls.key', 'ca.crt'].map(
  (file) => `${tlsDirectory}/${file}`,
);

export const storesTls = (certificate: Certificate) => secret('stores-tls', certificate);

/** A script for the first start: nobody gets in from outside without TLS. */
export const encryptedOnly =
  "printf '%s\\n' 'local all all trust' 'hostssl all all all scram-sha-256' > \"$PGDATA/pg_hba.conf\"\n";

const postgresTls = ['ssl=on', `ssl_cert_file=${certificateFile}`, `ssl_key_file=${keyFile}`];
const redisTls = [
  ...['--port', '0', '--tls-port', '6379', '--tls-auth-clients', 'no', '--tls-replication', 'yes'],
  ...['--tls-cert-file', certificateFile, '--tls-key-file', keyFile, '--tls-ca-cert-file', authorityFile],
];
/** Words of redis-cli, besides its own, that reach such a server. */
export const redisClientTls = ['--tls', '--insecure'];

export const postgres = (encrypted: boolean) =>
  deployment('postgres', {
    ...pod,
    containers: [
      {
        ...container,
        name: 'postgres',
        image: postgresImage,
        args: ['postgres', ...(encrypted ? postgresTls : []).flatMap((parameter) => ['-c', parameter])],
        env: [
          { name: 'POSTGRES_DB', value: database },
          { name: 'POSTGRES_PASSWORD_FILE', value: '/run/secrets/postgres_password' },
        ],
        ports: [{ containerPort: 5432 }],
        // Over TCP: the server that only makes the database listens on its socket alone.
        startupProbe: {
          exec: {
            command: ['pg_isready', '--host=127.0.0.1', '--username=postgres', `--dbname=${database}`],
          },
          ...untilStarted,
        },
        volumeMounts: [
          { name: 'data', mountPath: '/var/lib/postgresql' },
          { name: 'socket', mountPath: '/var/run/postgresql' },
          { name: 'scripts', mountPath: '/docker-entrypoint-initdb.d' },
          { name: 'start', mountPath: '/run/secrets' },
          ...(encrypted ? [tlsMount] : []),
        ],
      },
    ],
    volumes: [
      { name: 'data', emptyDir: { medium: 'Memory' } },
      { name: 'socket', emptyDir: {} },
      ...(encrypted ? [tlsVolume] : []),
      { name: 'scripts', configMap: { name: 'postgres-scripts' } },
      { name: 'start', secret: { secretName: 'postgres-start' } },
    ],
  });

/** `redis`, or another name for a replica of it. */
export function redis(name: string, encrypted: boolean): KubeObject {
  // A replica is filled at once, not after the five seconds in which others might ask too.
  const prompt = ['--repl-diskless-sync-delay', '0'];
  const durable = ['--appendonly', 'yes', '--appendfsync', 'always'];
  const full = ['--maxmemory-policy', 'noeviction', '--maxmemory', '256mb'];
  // A write that no replica would have is refused before it is done.
  const least = ['--min-replicas-to-write', '1'];
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
          ...full,
          ...least,
          ...following,
          ...(encrypted ? redisTls : []),
        ],
        env: [{ name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'redis-start', key: 'password' } } }],
        ports: [{ containerPort: 6379 }],
        startupProbe: { tcpSocket: { port: 6379 }, ...untilStarted },
        volumeMounts: [
          { name: 'data', mountPath: '/data' },
          { name: 'start', mountPath: '/run/secrets' },
          ...(encrypted ? [tlsMount] : []),
        ],
      },
    ],
    volumes: [
      { name: 'data', emptyDir: { medium: 'Memory' } },
      ...(encrypted ? [tlsVolume] : []),
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
