// The gateway's settings.
import { timeBudget } from '@course-exchange/rules/time-budget';
import { namelessTarget } from '@course-exchange/runtime/grpc/tls';
import {
  baseSettings,
  rpcTlsSettings,
  telemetrySettings,
} from '@course-exchange/runtime/process/base-settings';
import { isNarrowNetwork } from '@course-exchange/runtime/process/ip-address';
import { integer, list, origin, port, text, url } from '@course-exchange/runtime/process/setting-kinds';
import {
  readSettings,
  ruleOn,
  type SettingSource,
  type SettingValues,
} from '@course-exchange/runtime/process/settings';

const web = ['https:', 'http:'];
const target = (example: string) => text(`a gRPC target such as dns:///${example}`);
const milliseconds = integer(1_000, 60_000);

export const settings = {
  HTTP_HOST: text().default('0.0.0.0').describe('Address that public HTTP listens on'),
  HTTP_PORT: port().default(8080).describe('Port of public HTTP'),
  ISSUER: origin().describe('Issuer: public address of this environment, the same in all services (R28.1)'),
  IDENTITY_TARGET: target('identity:7001').describe('gRPC target of identity'),
  CATALOG_TARGET: target('design-catalog:7002').describe('gRPC target of design-catalog'),
  ...rpcTlsSettings,
  TRUSTED_PROXIES: list('an IP address or a network, of /8 at least or in IPv6 /16', isNarrowNetwork)
    .default([])
    .describe('Proxies whose X-Forwarded-For and X-Forwarded-Proto count; none by default (R28.3, R30.9)'),
  LINK_PASSWORD_RESET: url(web).optional().describe('Where a user gets a new password'),
  LINK_PRIVACY: url(web).optional().describe('Privacy notice'),
  LINK_IMPRINT: url(web).optional().describe('Imprint'),
  LINK_SUPPORT: url([...web, 'mailto:'])
    .optional()
    .describe('Support'),
  RPC_TIMEOUT_MS: milliseconds.default(timeBudget.answer).describe('Milliseconds for an answer (R14.2)'),
  LOGIN_TIMEOUT_MS: milliseconds.default(timeBudget.login).describe('Milliseconds for a login (R14.5)'),
  ...baseSettings,
  HEALTH_PORT: baseSettings.HEALTH_PORT.default(8081),
  ...telemetrySettings,
};

export type Config = SettingValues<typeof settings>;

const targetRules = (['IDENTITY_TARGET', 'CATALOG_TARGET'] as const).map((name) =>
  ruleOn(settings, [name, 'RPC_TLS_DIRECTORY'], (config) =>
    namelessTarget(name, config[name], config.RPC_TLS_DIRECTORY),
  ),
);

export function readConfig(source?: SettingSource): Config {
  return readSettings(settings, source, targetRules);
}
