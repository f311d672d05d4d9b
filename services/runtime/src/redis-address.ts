// An address of Redis as operators write it: one host, or several that know each other (Sentinels, seed nodes).

export interface RedisHost {
  readonly host: string;
  /** Where none was written: the one that Redis or Sentinel has by itself. */
  readonly port: number | undefined;
}

export interface RedisAddress {
  readonly tls: boolean;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly hosts: readonly RedisHost[];
  readonly database: number;
}

const whole = /^(rediss?):\/\/(?:([^:@/]*)(?::([^@/]*))?@)?([^@/?#\s]+)(?:\/(\d{0,4}))?$/;
const oneHost = /^([\w.-]+|\[[\da-fA-F:.]+\])(?::(\d{1,5}))?$/;

/** Undefined when `raw` is no such address. */
export function parseRedisAddress(raw: string): RedisAddress | undefined {
  const [, scheme, username, password, list, database] = whole.exec(raw) ?? [];
  if (list === undefined) return undefined;
  const hosts = list.split(',').map(parseHost);
  if (hosts.some((host) => host === undefined)) return undefined;
  try {
    return {
      tls: scheme === 'rediss',
      username: username ? decodeURIComponent(username) : undefined,
      password: password ? decodeURIComponent(password) : undefined,
      hosts: hosts as RedisHost[],
      database: Number(database || 0),
    };
  } catch {
    // A broken percent sign.
    return undefined;
  }
}

function parseHost(raw: string): RedisHost | undefined {
  const [, host, port] = oneHost.exec(raw) ?? [];
  if (host === undefined || (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)))
    return undefined;
  return { host: host.replace(/^\[|\]$/g, ''), port: port === undefined ? undefined : Number(port) };
}
