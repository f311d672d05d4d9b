// The gateway's settings: names, meanings and what is valid.
import { isIP } from 'node:net';
import { baseSettings, rpcTlsSettings, traceSettings } from '@course-exchange/runtime/base-settings';
import { readSettings, ruleOn, type SettingValues, type Variable } from '@course-exchange/runtime/env';
import { namelessTarget } from '@course-exchange/runtime/rpc-tls';
import { integer, list, maybe, optional, origin, port, text, url } from '@course-exchange/runtime/variables';

const web = ['https:', 'http:'];

export const settings = {
  HTTP_HOST: optional(text('Address that public HTTP listens on'), '0.0.0.0'),
  HTTP_PORT: optional(port('Port of public HTTP'), 8080),
  ISSUER: origin('Issuer: the public address of this environment, the same in all services (R28)'),
  IDENTITY_TARGET: text('gRPC target of identity', 'a gRPC target such as dns:///identity:7001'),
  CATALOG_TARGET: text('gRPC target of design-catalog', 'a gRPC target such as dns:///design-catalog:7001'),
  ...rpcTlsSettings,
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
  ...baseSettings,
  HEALTH_PORT: optional(baseSettings.HEALTH_PORT, 8081),
  ...traceSettings,
};

export type Config = SettingValues<typeof settings>;

const targetRules = (['IDENTITY_TARGET', 'CATALOG_TARGET'] as const).map((name) =>
  ruleOn(settings, [name, 'RPC_TLS_DIRECTORY'], (config) =>
    namelessTarget(name, config[name], config.RPC_TLS_DIRECTORY),
  ),
);

export function readConfig(source: Readonly<Record<string, string | undefined>>): Config {
  return readSettings(settings, source, targetRules);
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
