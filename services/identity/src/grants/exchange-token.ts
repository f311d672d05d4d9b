// The token endpoint in the order of R8: content type, duplicates, client authentication, grant type,
// parameters, grant. Method is the gateway's.
import { Failure } from '@course-exchange/runtime/failure';
import { readClientCredentials } from '../domain/client-credentials.ts';
import { checkForm, type TokenRequest } from '../domain/token-request.ts';
import { readStanding } from '../store/postgres/grant-standing.ts';
import { presentCode } from './authorization-code-grant.ts';
import { authenticateClient } from './client-authentication.ts';
import type { PresentedGrant, TokenResponse } from './presented-grant.ts';
import { presentRefreshToken } from './refresh-token-grant.ts';
import type { TokenEndpoint } from './token-endpoint.ts';

/**
 * Answers one token request. A failed one consumes nothing (R9) but a dead grant (R13). Throws `Failure`
 * with the codes of specification §7, or `temporarily_unavailable` when a store does not answer (R14).
 */
export async function exchangeToken(endpoint: TokenEndpoint, request: TokenRequest): Promise<TokenResponse> {
  checkForm(request);
  const { clientId, clientSecret } = readClientCredentials(request);
  const presented = await presentGrant(endpoint, request);
  const standing = await readStanding(endpoint.database, clientId, presented.consentId);
  const { client, secretHash } = authenticateClient(standing.client, clientSecret);
  endpoint.onSecretUsed(client.clientId, secretHash);
  const response = await presented.redeem(client, standing.grant);
  if (standing.grant)
    endpoint.onIssued({ grantType: request.grantType, clientId: client.clientId, sub: standing.grant.sub });
  return response;
}

function presentGrant(endpoint: TokenEndpoint, request: TokenRequest): Promise<PresentedGrant> {
  switch (request.grantType) {
    case 'authorization_code':
      return presentCode(endpoint, request);
    case 'refresh_token':
      return presentRefreshToken(endpoint, request);
    default:
      return Promise.resolve(noGrant(request.grantType));
  }
}

/** Refused only after the client was authenticated (R8). */
function noGrant(grantType: string): PresentedGrant {
  const code = grantType === '' ? 'invalid_request' : 'unsupported_grant_type';
  return {
    consentId: null,
    redeem: () => Promise.reject(new Failure(code, 'grant_type')),
  };
}
