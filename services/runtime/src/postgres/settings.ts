// The settings of a Postgres account, read for each connection, so that a replaced Secret takes effect.
import type pg from 'pg';
import { parseIntoClientConfig } from 'pg-connection-string';
import type { Secret } from '../process/secret.ts';
import { secret, secretUrl, text } from '../process/setting-kinds.ts';
import { readSettings, type SettingSource } from '../process/settings.ts';

const address = secretUrl(['postgres:', 'postgresql:']);
const user = text().optional();
const password = secret().optional();

type PostgresSettings<P extends string, Url> = Readonly<
  Record<`${P}_URL`, Url> & Record<`${P}_USER`, typeof user> & Record<`${P}_PASSWORD`, typeof password>
>;

function settingsWith<P extends string, Url>(prefix: P, url: Url): PostgresSettings<P, Url> {
  return {
    [`${prefix}_URL`]: url,
    [`${prefix}_USER`]: user.describe(`User; takes precedence over the one in ${prefix}_URL`),
    [`${prefix}_PASSWORD`]: password.describe(`Password; takes precedence over the one in ${prefix}_URL`),
  } as PostgresSettings<P, Url>;
}

/** `POSTGRES` for POSTGRES_URL, POSTGRES_USER and POSTGRES_PASSWORD. `about`: the database and role. */
export function postgresSettings<P extends string>(prefix: P, about: string) {
  return settingsWith(prefix, address.describe(about));
}

/** As `postgresSettings`, for an account that may be absent. */
export function optionalPostgresSettings<P extends string>(prefix: P, about: string) {
  return settingsWith(prefix, address.optional().describe(about));
}

export interface PostgresAccess {
  /** `POSTGRES_URL`: named in messages about the account. */
  readonly setting: string;
  /** Throws ConfigurationError, or a file-system error for a certificate. */
  readonly read: () => pg.ClientConfig;
}

/** `source`: the variables that the configuration was read from; default the environment. */
export function postgresAccess(prefix: string, source?: SettingSource): PostgresAccess {
  const settings = postgresSettings(prefix, '');
  return {
    setting: `${prefix}_URL`,
    read: () => {
      const values = Object.values(readSettings(settings, source));
      const [url, user, password] = values as [Secret<string>, string?, Secret<string>?];
      return {
        ...parseIntoClientConfig(url.reveal()),
        ...(user === undefined ? {} : { user }),
        ...(password === undefined ? {} : { password: password.reveal() }),
      };
    },
  };
}
