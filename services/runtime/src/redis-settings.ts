// The settings that say how Redis is reached: one server, Sentinels or a Cluster, with TLS and an ACL user.
import { ConfigurationError, readSettings, ruleOn, type SettingValues } from './env.ts';
import { parseRedisAddress, type RedisAddress, type RedisHost } from './redis-address.ts';
import { flag, integer, maybe, optional, secret, text } from './variables.ts';

const addressSettings = {
  REDIS_URL: secret({
    about: 'Redis; several hosts are Sentinels or nodes of a Cluster',
    expects: 'redis[s]://[user[:password]@]host[:port][,host[:port]…][/db]',
    parse: (raw) => (parseRedisAddress(raw) ? raw : undefined),
  }),
  REDIS_USERNAME: maybe(text('ACL user of Redis, instead of the one in the URL')),
  REDIS_PASSWORD: maybe(secret(text('its password, instead of the one in the URL'))),
  REDIS_SENTINEL_USERNAME: maybe(text('ACL user of the Sentinels')),
  REDIS_SENTINEL_PASSWORD: maybe(secret(text('its password'))),
  REDIS_TLS_CA: maybe(text('authority of the certificates of Redis, PEM', 'a PEM text')),
};

export const redisSettings = {
  ...addressSettings,
  REDIS_SENTINEL_MASTER: maybe(text('name of the master; then the hosts are Sentinels')),
  REDIS_CLUSTER: optional(flag('the hosts are nodes of a Redis Cluster'), false),
  REDIS_MIN_REPLICAS: optional(integer('replicas that must have a token before it leaves', 0, 5), 0),
};

export type RedisConfig = SettingValues<typeof redisSettings>;

export interface RedisCredentials {
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly sentinelUsername: string | undefined;
  readonly sentinelPassword: string | undefined;
  /** PEM. Undefined: the authorities that Node knows are trusted. */
  readonly authority: string | undefined;
}

/** Where Redis is and how it is reached. */
export interface RedisPlace {
  readonly hosts: readonly RedisHost[];
  readonly tls: boolean;
  readonly database: number;
  /** Then the hosts are Sentinels that know the master by this name. */
  readonly sentinelMaster: string | undefined;
  /** Then the hosts are nodes to begin with. */
  readonly cluster: boolean;
  /** Asked for each connection: what stands in a file is read again. */
  readonly credentials: () => RedisCredentials;
}

/** What the settings must be together. */
export const redisRules = [
  ruleOn(redisSettings, ['REDIS_URL', 'REDIS_SENTINEL_MASTER', 'REDIS_CLUSTER'], (config) => {
    const { hosts, database } = addressOf(config.REDIS_URL.reveal());
    const sentinel = config.REDIS_SENTINEL_MASTER !== undefined;
    return [
      ...(sentinel && config.REDIS_CLUSTER
        ? ['REDIS_SENTINEL_MASTER and REDIS_CLUSTER are both set: expected one of them']
        : []),
      ...(config.REDIS_CLUSTER && database > 0
        ? ['REDIS_URL is not valid: expected no database number where REDIS_CLUSTER is true']
        : []),
      ...(hosts.length > 1 && !sentinel && !config.REDIS_CLUSTER
        ? ['REDIS_URL is not valid: expected one host unless REDIS_SENTINEL_MASTER or REDIS_CLUSTER is set']
        : []),
    ];
  }),
  ruleOn(redisSettings, ['REDIS_URL', 'REDIS_TLS_CA'], ({ REDIS_URL, REDIS_TLS_CA }) =>
    REDIS_TLS_CA !== undefined && !addressOf(REDIS_URL.reveal()).tls
      ? ['REDIS_TLS_CA is set: expected REDIS_URL to start with rediss://']
      : [],
  ),
  ruleOn(
    redisSettings,
    ['REDIS_SENTINEL_MASTER', 'REDIS_SENTINEL_USERNAME', 'REDIS_SENTINEL_PASSWORD'],
    (config) =>
      config.REDIS_SENTINEL_MASTER === undefined &&
      (config.REDIS_SENTINEL_USERNAME ?? config.REDIS_SENTINEL_PASSWORD) !== undefined
        ? ['REDIS_SENTINEL_MASTER is missing: expected it where there is a user or password of the Sentinels']
        : [],
  ),
];

/** `source` holds the variables that `config` was read from. */
export function redisPlace(
  config: RedisConfig,
  source?: Readonly<Record<string, string | undefined>>,
): RedisPlace {
  const { hosts, tls, database } = addressOf(config.REDIS_URL.reveal());
  let last: AddressConfig = config;
  return {
    hosts,
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

/** One server, as its URL says it. */
export function redisAt(url: string): RedisPlace {
  return redisPlace(readSettings(redisSettings, { REDIS_URL: url }), { REDIS_URL: url });
}

type AddressConfig = SettingValues<typeof addressSettings>;

/** A file that is just being replaced leaves what was read last. */
function readAgain(
  last: AddressConfig,
  source: Readonly<Record<string, string | undefined>> | undefined,
): AddressConfig {
  try {
    return readSettings(addressSettings, source);
  } catch (error) {
    if (error instanceof ConfigurationError) return last;
    throw error;
  }
}

function credentialsOf(config: AddressConfig): RedisCredentials {
  const { username, password } = addressOf(config.REDIS_URL.reveal());
  return {
    username: config.REDIS_USERNAME ?? username,
    password: config.REDIS_PASSWORD?.reveal() ?? password,
    sentinelUsername: config.REDIS_SENTINEL_USERNAME,
    sentinelPassword: config.REDIS_SENTINEL_PASSWORD?.reveal(),
    authority: config.REDIS_TLS_CA,
  };
}

function addressOf(url: string): RedisAddress {
  const address = parseRedisAddress(url);
  if (address === undefined) throw new ConfigurationError(['REDIS_URL is not valid']);
  return address;
}
