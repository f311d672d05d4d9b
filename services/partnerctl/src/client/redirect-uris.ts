// Redirect URIs on a command line: `test=URI`, `production=URI`, or a plain URI for this installation's environment.
import { create } from '@bufbuild/protobuf';
import {
  type ClientRegistration,
  type Environment,
  type EnvironmentRegistration,
  EnvironmentRegistrationSchema,
} from '@course-exchange/proto/operator/v1/client';
import { usageError } from '../output/errors.ts';
import { environmentName, environmentNames, environments } from './registration-file.ts';

export interface RedirectUriOptions {
  readonly redirectUri?: readonly string[];
  readonly addRedirectUri?: readonly string[];
  readonly removeRedirectUri?: readonly string[];
}

/** A list or URI without an environment is for `own`. Throws a usage error. */
export function withRedirectUris(
  lists: readonly EnvironmentRegistration[],
  own: Environment,
  options: RedirectUriOptions,
): EnvironmentRegistration[] {
  return environmentNames.flatMap((name) => {
    const environment = environments[name];
    const registered = lists.filter((list) => (list.environment || own) === environment);
    const given = (values: readonly string[] = []) =>
      values.flatMap((value) => {
        const [, named = environmentName(own), uri = value] = /^(test|production)=(.*)$/.exec(value) ?? [];
        return named === name ? [uri] : [];
      });
    const edit = {
      registered: registered.flatMap(({ redirectUris }) => redirectUris),
      replacing: given(options.redirectUri),
      adding: given(options.addRedirectUri),
      removing: given(options.removeRedirectUri),
    };
    if (edit.replacing.length + edit.adding.length + edit.removing.length === 0)
      return registered.map((list) => ({ ...list, environment }));
    return [create(EnvironmentRegistrationSchema, { environment, redirectUris: editedList(name, edit) })];
  });
}

type ListEdit = Readonly<Record<'registered' | 'replacing' | 'adding' | 'removing', readonly string[]>>;

function editedList(name: string, { registered, replacing, adding, removing }: ListEdit): string[] {
  if (replacing.length > 0) {
    if (adding.length + removing.length === 0) return [...replacing];
    throw usageError(
      `--redirect-uri replaces the whole list for ${name}: it excludes --add-redirect-uri and --remove-redirect-uri for that environment.`,
      'Name every URI with --redirect-uri, or use only --add-redirect-uri and --remove-redirect-uri.',
    );
  }
  const known = adding.find((uri) => registered.includes(uri));
  if (known !== undefined) throw usageError(`"${known}" is already a redirect URI for ${name}.`);
  const missing = removing.find((uri) => !registered.includes(uri));
  if (missing !== undefined) {
    const all = registered.length > 0 ? registered.join(', ') : 'none';
    throw usageError(`"${missing}" is not a redirect URI for ${name}.`, `Registered for ${name}: ${all}.`);
  }
  return [...registered.filter((uri) => !removing.includes(uri)), ...adding];
}

export function redirectUriLines({ environments: lists }: ClientRegistration): string[] {
  const named = lists.map((list) => ({ ...list, name: environmentName(list.environment) ?? 'here' }));
  const width = Math.max(0, ...named.map(({ name }) => name.length));
  return named.flatMap(({ name, redirectUris }) =>
    redirectUris.map((uri) => `${name.padEnd(width)}  ${uri}`),
  );
}
