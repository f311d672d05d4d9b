// The checks that are answered directly, because no redirect URI is trusted before them, in the order of R1.
// Each throws a Failure with its code.
import { Failure } from '@course-exchange/runtime/failure';
import {
  type AuthorizationParameters,
  repeatsKnownParameter,
} from '../../domain/authorization-parameters.ts';
import { type PkceChallenge, parseChallenge } from '../../domain/pkce.ts';
import { isRegistered } from '../../domain/redirect-uri.ts';
import { isWithin, parseScope, type Scope } from '../../domain/scope.ts';
import type { Client } from '../../store/postgres/clients.ts';
import type { AuthorizationDependencies } from '../dependencies.ts';

/** What the direct checks make of a request. */
export interface TrustedRequest {
  readonly client: Client;
  readonly redirectUri: string;
  readonly scopes: readonly Scope[];
  readonly pkce: PkceChallenge | undefined;
}

/** Runs the checks in the order of R1; the first that fails decides. */
export async function checkDirectly(
  deps: Pick<AuthorizationDependencies, 'findClient'>,
  parameters: AuthorizationParameters,
  repeated: readonly string[],
): Promise<TrustedRequest> {
  checkRepetition(repeated);
  const client = await checkClient(deps, parameters);
  const redirectUri = checkRedirectUri(parameters, client);
  const scopes = checkScope(parameters, client);
  checkResponseType(parameters);
  const pkce = parseChallenge(parameters.codeChallenge, parameters.codeChallengeMethod);
  return { client, redirectUri, scopes, pkce };
}

function checkRepetition(repeated: readonly string[]): void {
  if (repeatsKnownParameter(repeated)) throw new Failure('invalid_request', 'a parameter came twice');
}

async function checkClient(
  { findClient }: Pick<AuthorizationDependencies, 'findClient'>,
  { clientId }: AuthorizationParameters,
): Promise<Client> {
  const client = clientId === '' ? undefined : await findClient(clientId);
  if (!client?.active) throw new Failure('invalid_client', 'client missing, unknown or inactive');
  return client;
}

function checkRedirectUri({ redirectUri }: AuthorizationParameters, client: Client): string {
  if (!isRegistered(redirectUri, client.redirectUris)) throw new Failure('invalid_redirect_uri');
  return redirectUri;
}

function checkScope({ scope }: AuthorizationParameters, client: Client): readonly Scope[] {
  const scopes = parseScope(scope);
  if (scopes === undefined || scopes.length === 0 || !isWithin(scopes, client.scopes))
    throw new Failure('invalid_scope');
  return scopes;
}

function checkResponseType({ responseType }: AuthorizationParameters): void {
  if (responseType === '') throw new Failure('invalid_request', 'response_type missing');
  if (responseType !== 'code') throw new Failure('unsupported_response_type');
}
