// The settings of the demo partner. What an operator hands over at registration (specification §1) arrives
// here: issuer, client identifier, client secret, scopes. PUBLIC_URL + /callback is the registered redirect URI.
import { baseSettings } from '@course-exchange/runtime/base-settings';
import { readSettings, type SettingValues, type Variable } from '@course-exchange/runtime/env';
import { optional, port, secret, secretBytes, text } from '@course-exchange/runtime/variables';

/** Whether `url` is plain http to this very machine, the only place where it may be used without TLS. */
export function isLoopbackHttp(url: URL): boolean {
  return url.protocol === 'http:' && /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(url.hostname);
}

function partnerOrigin(about: string): Variable<string> {
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
  ...baseSettings,
  HEALTH_HOST: optional(baseSettings.HEALTH_HOST, '127.0.0.1'),
  HEALTH_PORT: optional(baseSettings.HEALTH_PORT, 0),
  PUBLIC_URL: partnerOrigin('origin under which browsers reach the demo partner; /callback is appended'),
  ISSUER: partnerOrigin('issuer of the selected environment, exactly as discovery publishes it'),
  CLIENT_ID: text('client identifier from the registration'),
  CLIENT_SECRET: secret(text('client secret from the registration')),
  SCOPES: optional(text('space-separated scopes approved at registration'), 'openid email profile'),
  TOKEN_ENCRYPTION_KEY: secretBytes('key under which tokens are stored', 32),
  DATABASE_FILE: text('path of the file that holds sessions and encrypted tokens'),
};

export type Config = SettingValues<typeof settings>;

/** Reads the configuration. Throws one ConfigurationError that lists every mistake. */
export function readConfig(source: Readonly<Record<string, string | undefined>>): Config {
  return readSettings(settings, source);
}
