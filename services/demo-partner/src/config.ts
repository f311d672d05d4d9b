// The settings of the demo partner. What an operator hands over at registration (specification §1) arrives
// here: issuer, client identifier, client secret, scopes. PUBLIC_URL + /callback is the registered redirect URI.
import {
  choice,
  flag,
  integer,
  optional,
  port,
  readSettings,
  type Settings,
  type SettingValues,
  secret,
  secretBytes,
  text,
  type Variable,
} from '@course-exchange/runtime/env';

/** Whether `url` is plain http to this very machine, the only place where it may be used without TLS. */
export function isLoopbackHttp(url: URL): boolean {
  return url.protocol === 'http:' && /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(url.hostname);
}

function origin(about: string): Variable<string> {
  return {
    about,
    expects: 'an https origin without path (http for a loopback address only)',
    parse: (raw) => {
      if (!URL.canParse(raw)) return undefined;
      const url = new URL(raw);
      return url.origin === raw && (url.protocol === 'https:' || isLoopbackHttp(url)) ? raw : undefined;
    },
  };
}

export const settings = {
  HTTP_HOST: optional(text('address that the pages are served on'), '127.0.0.1'),
  HTTP_PORT: optional(port('port that the pages are served on'), 0),
  HEALTH_HOST: optional(text('address of /livez and /readyz'), '127.0.0.1'),
  HEALTH_PORT: optional(port('port of /livez and /readyz'), 0),
  PUBLIC_URL: origin('origin under which browsers reach the demo partner; /callback is appended'),
  ISSUER: origin('issuer of the selected environment, exactly as discovery publishes it'),
  CLIENT_ID: text('client identifier from the registration'),
  CLIENT_SECRET: secret(text('client secret from the registration')),
  SCOPES: optional(text('space-separated scopes approved at registration'), 'openid email profile'),
  TOKEN_ENCRYPTION_KEY: secretBytes('key under which tokens are stored', 32),
  DATABASE_FILE: text('path of the file that holds sessions and encrypted tokens'),
  SHUTDOWN_DELAY_MS: optional(integer('wait between readiness off and the end, in ms', 0, 60_000), 0),
  STOP_WITH_PARENT: optional(flag('stop when standard input closes'), false),
  LOG_LEVEL: optional(choice('least level that is logged', ['debug', 'info', 'warn', 'error']), 'info'),
} satisfies Settings;

export type Config = SettingValues<typeof settings>;

/** Reads the configuration. Throws one ConfigurationError that lists every mistake. */
export function readConfig(source: Readonly<Record<string, string | undefined>>): Config {
  return readSettings(settings, source);
}
