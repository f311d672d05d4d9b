// The gateway's settings: names, meanings and what is valid.
import { isIP } from 'node:net';
import {
  choice,
  flag,
  integer,
  list,
  maybe,
  optional,
  port,
  readSettings,
  type SettingValues,
  text,
  url,
  type Variable,
} from '@course-exchange/runtime/env';

const web = ['https:', 'http:'];

export const settings = {
  HTTP_HOST: optional(text('Address that public HTTP listens on'), '0.0.0.0'),
  HTTP_PORT: optional(port('Port of public HTTP'), 8080),
  ISSUER: origin('Issuer: the public address of this environment, the same in all services (R28)'),
  IDENTITY_TARGET: text('gRPC target of identity', 'a gRPC target such as dns:///identity:7001'),
  CATALOG_TARGET: text('gRPC target of design-catalog', 'a gRPC target such as dns:///design-catalog:7001'),
  TRUSTED_PROXIES: optional(
    list(network('Proxies whose X-Forwarded-For is believed; nobody is by default (R30)')),
    [],
  ),
  LINK_PASSWORD_RESET: maybe(url('Where a person gets a new password', web)),
  LINK_PRIVACY: maybe(url('Privacy notice', web)),
  LINK_IMPRINT: maybe(url('Imprint', web)),
  LINK_SUPPORT: maybe(url('Support', [...web, 'mailto:'])),
  RPC_TIMEOUT_MS: optional(integer('Time for an answer in milliseconds (R14)', 100, 60_000), 1_800),
  LOGIN_TIMEOUT_MS: optional(integer('Time for a login in milliseconds (R14)', 100, 60_000), 10_000),
  HEALTH_HOST: optional(text('Address that the probes listen on'), '0.0.0.0'),
  HEALTH_PORT: optional(port('Port of the probes'), 8081),
  LOG_LEVEL: optional(choice('Least level that is logged', ['debug', 'info', 'warn', 'error']), 'info'),
  OTEL_EXPORTER_OTLP_ENDPOINT: maybe(url('OTLP/HTTP collector; nothing is exported without it', web)),
  OTEL_TRACES_SAMPLER_ARG: optional(ratio('Share of traces begun here that are kept'), 1),
  STOP_WITH_PARENT: optional(flag('Stop when standard input closes'), false),
  SHUTDOWN_DELAY_MS: optional(
    integer('Wait between readiness off and closing, in milliseconds', 0, 60_000),
    0,
  ),
};

export type Config = SettingValues<typeof settings>;

export function readConfig(source: Readonly<Record<string, string | undefined>>): Config {
  return readSettings(settings, source);
}

/** A scheme, a host and an optional port: no path, no trailing slash. */
function origin(about: string): Variable<string> {
  return {
    about,
    expects: 'an origin such as https://exchange.example, without path or trailing slash',
    parse: (raw) => {
      const valid = URL.canParse(raw) && web.includes(new URL(raw).protocol) && new URL(raw).origin === raw;
      return valid ? raw : undefined;
    },
  };
}

function network(about: string): Variable<string> {
  return {
    about,
    expects: 'an IP address or a network such as 10.0.0.0/8',
    parse: (raw) => {
      const [address = '', bits, more] = raw.split('/');
      const width = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
      const inside = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= width);
      return width > 0 && inside && more === undefined ? raw : undefined;
    },
  };
}

function ratio(about: string): Variable<number> {
  return {
    about,
    expects: 'a number from 0 to 1',
    parse: (raw) => (/^(0|1|0?\.\d+|0\.\d+|1\.0+)$/.test(raw) ? Number(raw) : undefined),
  };
}
