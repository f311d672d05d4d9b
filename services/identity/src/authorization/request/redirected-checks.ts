// The checks after the redirect URI is trusted: what they find goes to the partner by redirect (R5). The
// first that finds something decides.
import type { RedirectedError } from '../../domain/authorization-answer.ts';
import type { AuthorizationParameters } from '../../domain/authorization-parameters.ts';
import type { AuthorizationRequest } from '../../domain/authorization-request.ts';
import type { ClientId, Sub } from '../../domain/ids.ts';
import { parseMaxAge } from '../../domain/max-age.ts';
import { parsePrompt } from '../../domain/prompt.ts';
import type { AuthorizationDependencies } from '../dependencies.ts';
import type { TrustedRequest } from './direct-checks.ts';

type Needed = Pick<AuthorizationDependencies, 'readIdTokenHint'>;

/** The request as its transaction will remember it, or the error for the partner. */
export function checkRedirected(
  deps: Needed,
  parameters: AuthorizationParameters,
  { client, redirectUri, scopes, pkce }: TrustedRequest,
): AuthorizationRequest | RedirectedError {
  const unsupported = unsupportedFeature(parameters);
  if (unsupported !== undefined) return unsupported;
  const prompts = parsePrompt(parameters.prompt);
  const maxAge = parseMaxAge(parameters.maxAge);
  if (prompts === undefined || maxAge === 'malformed') return 'invalid_request';
  const hintedSub = readHint(deps, parameters.idTokenHint, client.clientId);
  if (hintedSub === 'invalid') return 'invalid_request';
  const { state, nonce, loginHint, uiLocales } = parameters;
  const { clientId } = client;
  return {
    ...{ clientId, redirectUri, scopes, state, nonce, pkce },
    ...{ prompts, maxAge, loginHint, uiLocales, hintedSub },
  };
}

/** Request objects, and answers elsewhere than in the query, are not offered. */
function unsupportedFeature(parameters: AuthorizationParameters): RedirectedError | undefined {
  const { request, requestUri, responseMode } = parameters;
  if (request !== '') return 'request_not_supported';
  if (requestUri !== '') return 'request_uri_not_supported';
  return responseMode === '' || responseMode === 'query' ? undefined : 'invalid_request';
}

function readHint(
  { readIdTokenHint }: Needed,
  idToken: string,
  clientId: ClientId,
): Sub | 'invalid' | undefined {
  if (idToken === '') return undefined;
  return readIdTokenHint(idToken, clientId) ?? 'invalid';
}
