// The settings of the connection to Redis.
import { flag, integer, secret, text } from '@course-exchange/runtime/process/setting-kinds';
import {
  ConfigurationError,
  messagesOf,
  readSettings,
  ruleOn,
  type SettingSource,
  type SettingValues,
} from '@course-exchange/runtime/process/settings';

const addressSettings = {
  REDIS_URL: secret(
    'redis[s]://[user[:password]@]host[:port][,host[:port]…][/db]',
    (raw) => parseRedisAddress(raw) !== undefined,
  ).describe('Redis; several hosts are Sentinels or nodes of a Cluster'),
  REDIS_USERNAME: text().optional().describe('ACL user of Redis; takes precedence over the one in the URL'),
  REDIS_PASSWORD: secret().optional().describe('Its password; takes precedence over the one in the URL'),
  REDIS_SENTINEL_USERNAME: text().optional().describe('ACL user of the Sentinels'),
  REDIS_SENTINEL_PASSWORD: secret().optional().describe('Its password'),
  REDIS_TLS_CA: text('a PEM text').optional().describe('Authority of the certificates of Redis, PEM'),
};

export const redisSettings = {
  ...addressSettings,
  REDIS_SENTINEL_MASTER: text().optional().describe('Name of the master; then the hosts are Sentinels'),
  REDIS_CLUSTER: flag().default(false).describe('The hosts are nodes of a Redis Cluster'),
  REDIS_MIN_REPLICAS: integer(0, 5)
    .default(0)
    .describe(
      'Replicas that must confirm a token before it is sent; only the number of all replicas ensures that no failover brings a spent one back',
    ),
  REDIS_SETTINGS_ATTESTED: flag()
    .default(false)
    .describe('Redis forbids CONFIG; setting this vouches for the settings that the migration Job checks'),
};

export type RedisConfig = SettingValues<typeof redisSettings>;

export type RedisCredentials = ReturnType<typeof credentialsOf>;

export interface RedisTarget {
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  readonly tls: boolean;
  readonly database: number;
  /** The hosts are Sentinels that know the master by this name. */
  readonly sentinelMaster: string | undefined;
  /** The hosts are some of its nodes. */
  readonly cluster: boolean;
  /** Called for each connection: a file is read again. */
  readonly credentials: () => RedisCredentials;
}

export const redisRules = [
  ruleOn(redisSettings, Object.keys(redisSettings) as (keyof RedisConfig)[], (config) => {
    const { hosts, database, tls } = addressOf(config.REDIS_URL.reveal());
    const {
      REDIS_CLUSTER: cluster,
      REDIS_SENTINEL_USERNAME: user,
      REDIS_SENTINEL_PASSWORD: password,
    } = config;
    const sentinel = config.REDIS_SENTINEL_MASTER !== undefined;
    return messagesOf([
      {
        bad: sentinel && cluster,
        message: 'REDIS_SENTINEL_MASTER and REDIS_CLUSTER are both set: expected one of them',
      },
      {
        bad: cluster && database > 0,
        message: 'REDIS_URL is not valid: expected no database number where REDIS_CLUSTER is true',
      },
      {
        bad: hosts.length > 1 && !sentinel && !cluster,
        message:
          'REDIS_URL is not valid: expected one host unless REDIS_SENTINEL_MASTER or REDIS_CLUSTER is set',
      },
      {
        bad: config.REDIS_TLS_CA !== undefined && !tls,
        message: 'REDIS_TLS_CA is set: expected REDIS_URL to start with rediss://',
      },
      {
        bad: !sentinel && (user ?? password) !== undefined,
        message:
          'REDIS_SENTINEL_MASTER is missing: expected it where there is a user or password of the Sentinels',
      },
    ]);
  }),
];

/** `source`: the variables that `config` was read from. */
export function redisTarget(config: RedisConfig, source?: SettingSource): RedisTarget {
  const { hosts, tls, database } = addressOf(config.REDIS_URL.reveal());
  const usualPort = config.REDIS_SENTINEL_MASTER === undefined ? 6379 : 26379;
  let last: AddressConfig = config;
  return {
    hosts: hosts.map(({ host, port = usualPort }) => ({ host, port })),
    tls,
    database,
    sentinelMaster: config.REDIS_SENTINEL_MASTER,
    cluster: config.REDIS_CLUSTER,
    credentials: () => {
      last = readAgain(last, source);
      return credentialsOf(last);
    },
  };
}

type AddressConfig = SettingValues<typeof addressSettings>;

/** A file may be missing while it is replaced. */
function readAgain(last: AddressConfig, source: SettingSource | undefined): AddressConfig {
  try {
    return readSettings(addressSettings, source);
  } catch (error) {
    if (error instanceof ConfigurationError) return last;
    throw error;
  }
}

function credentialsOf(config: AddressConfig) {
  const { username, password } = addressOf(config.REDIS_URL.reveal());
  return {
    username: config.REDIS_USERNAME ?? username,
    password: config.REDIS_PASSWORD?.reveal() ?? password,
    sentinelUsername: config.REDIS_SENTINEL_USERNAME,
    sentinelPassword: config.REDIS_SENTINEL_PASSWORD?.reveal(),
    /** PEM; undefined: Node's. */
    authority: config.REDIS_TLS_CA,
  };
}

function addressOf(url: string) {
  const address = parseRedisAddress(url);
  if (address === undefined) throw new ConfigurationError(['REDIS_URL is not valid']);
  return address;
}

const whole = /^(rediss?):\/\/(?:([^:@/]*)(?::([^@/]*))?@)?([^@/?#\s]+)(?:\/(\d{0,4}))?$/;
const oneHost = /^([\w.-]+|\[[\da-fA-F:.]+\])(?::(\d{1,5}))?$/;

export function parseRedisAddress(raw: string) {
  const [, scheme, username, password, list = '', database] = whole.exec(raw) ?? [];
  const hosts = list.split(',').flatMap(parseHost);
  if (hosts.length < list.split(',').length) return undefined;
  try {
    return {
      tls: scheme === 'rediss',
      username: username ? decodeURIComponent(username) : undefined,
      password: password ? decodeURIComponent(password) : undefined,
      hosts,
      database: Number(database || 0),
    };
  } catch {
    return undefined;
  }
}

function parseHost(raw: string) {
  const [, host, written] = oneHost.exec(raw) ?? [];
  const port = written === undefined ? undefined : Number(written);
  if (host === undefined || (port !== undefined && (port < 1 || port > 65_535))) return [];
  return [{ host: host.replace(/^\[|\]$/g, ''), port }];
}
