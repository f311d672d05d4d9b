// Redirect URIs on a command line: `test=URI` and `production=URI` name the environment, and a plain URI is for that of
// this installation.
import { create } from '@bufbuild/protobuf';
import {
  type Environment,
  type EnvironmentRegistration,
  EnvironmentRegistrationSchema,
} from '@course-exchange/proto/operator/v1/client';
import { environmentNames, environments } from './registration-file.ts';

/**
 * `lists`, with those replaced whose environment a value names. A list or a URI without an environment is of `own`.
 */
export function withRedirectUris(
  lists: readonly EnvironmentRegistration[],
  own: Environment,
  values: readonly string[],
): EnvironmentRegistration[] {
  const replacing = byEnvironment(values, own);
  const present = lists.map((list) => ({ ...list, environment: list.environment || own }));
  const edited = [...replacing].map(([environment, uris]) =>
    create(EnvironmentRegistrationSchema, { environment, redirectUris: [...uris] }),
  );
  const kept = present.filter(({ environment }) => !replacing.has(environment));
  return [...kept, ...edited].toSorted((one, other) => one.environment - other.environment);
}

function byEnvironment(
  values: readonly string[],
  own: Environment,
): ReadonlyMap<Environment, readonly string[]> {
  const named = values.map((value) => {
    const name = environmentNames.find((one) => value.startsWith(`${one}=`));
    return name === undefined
      ? { environment: own, uri: value }
      : { environment: environments[name], uri: value.slice(name.length + 1) };
  });
  const groups = Map.groupBy(named, ({ environment }) => environment);
  return new Map([...groups].map(([environment, group]) => [environment, group.map(({ uri }) => uri)]));
}
