// The settings of one account in Postgres: a URL, and a user and a password that may stand beside it. They are read
// again for each connection, so that a Secret that is replaced is followed.
import type pg from 'pg';
import { parseIntoClientConfig } from 'pg-connection-string';
import { readSettings, type Variable } from './env.ts';
import type { Secret } from './secret.ts';
import { maybe, secret, text, url } from './variables.ts';

type Named<P extends string, Url> = { readonly [K in `${P}_URL`]: Variable<Url> } & {
  readonly [K in `${P}_USER`]: Variable<string | undefined>;
} & { readonly [K in `${P}_PASSWORD`]: Variable<Secret<string> | undefined> };

/** `POSTGRES` for POSTGRES_URL, POSTGRES_USER and POSTGRES_PASSWORD. `about`: what is reached, as which role. */
export function postgresSettings<P extends string>(prefix: P, about: string): Named<P, Secret<string>> {
  return {
    [`${prefix}_URL`]: secret(url(about, ['postgres:', 'postgresql:'])),
    [`${prefix}_USER`]: maybe(text(`user in ${prefix}_URL, in the place of the one there`)),
    [`${prefix}_PASSWORD`]: maybe(secret(text(`password in ${prefix}_URL, in the place of the one there`))),
  } as Named<P, Secret<string>>;
}

/** As `postgresSettings`, where there may be no such account. */
export function optionalPostgresSettings<P extends string>(
  prefix: P,
  about: string,
): Named<P, Secret<string> | undefined> {
  const settings: Readonly<Record<string, Variable<unknown>>> = postgresSettings(prefix, about);
  const address = settings[`${prefix}_URL`] as Variable<Secret<string>>;
  return { ...settings, [`${prefix}_URL`]: maybe(address) } as Named<P, Secret<string> | undefined>;
}

/** An account in Postgres, as its settings name it. */
export interface PostgresAccess {
  /** `POSTGRES_URL`: what a sentence on the account names. */
  readonly setting: string;
  /**
   * How a connection is made now. Throws ConfigurationError when a file cannot be read or holds nothing valid, and
   * what the file system says of a certificate that the URL names.
   */
  readonly read: () => pg.ClientConfig;
}

/** `source`: the variables that the configuration was read from; those of the process without it. */
export function postgresAccess(
  prefix: string,
  source?: Readonly<Record<string, string | undefined>>,
): PostgresAccess {
  const settings: Readonly<Record<string, Variable<unknown>>> = postgresSettings(prefix, '');
  return {
    setting: `${prefix}_URL`,
    read: () => {
      const values = readSettings(settings, source);
      const [address, user, password] = ['URL', 'USER', 'PASSWORD'].map(
        (part) => values[`${prefix}_${part}`],
      );
      return {
        ...parseIntoClientConfig((address as Secret<string>).reveal()),
        ...(user === undefined ? {} : { user: user as string }),
        ...(password === undefined ? {} : { password: (password as Secret<string>).reveal() }),
      };
    },
  };
}
