// token/ is the token endpoint and user-info: it authenticates the client, reads what a code or refresh token stands for, signs
// tokens, and consumes the grant in one step. Codes are made in authorize/; what is approved, agreed and enabled is read from
// clients/, consents/ and users/.

// The token endpoint in the order of R8. Method and content type are the gateway's.
import { tokenParameters } from '@course-exchange/rules/parameters';
import { tokenRefusal } from '../refusals/reasons.ts';
import { type LoadedCode, loadCode, redeemCode } from './authorization-code-grant.ts';
import { authenticateClient, claimedClientId, readClientCredentials } from './client-authentication.ts';
import {
  type CurrentStatus,
  requireTimeToConsume,
  type TokenDeps,
  type TokenRequest,
  type TokenResponse,
} from './grant.ts';
import { loadGrantStatus } from './grant-status-table.ts';
import { type LoadedFamily, loadFamily, refreshTokens } from './refresh-token-grant.ts';

/** Consumes nothing when it refuses (R9.1), but deletes a dead grant (R13.2, R13.3). Throws `Failure`. */
export async function exchangeToken(deps: TokenDeps, request: TokenRequest): Promise<TokenResponse> {
  try {
    return await answer(deps, request);
  } catch (error) {
    deps.observe({ event: 'token_refused', error, claimed: () => claimedClientId(request) });
    throw error;
  }
}

async function answer(deps: TokenDeps, request: TokenRequest): Promise<TokenResponse> {
  const { grantType } = request;
  if (request.repeatedParameters.some((name) => tokenParameters.includes(name)))
    throw tokenRefusal('repeated_parameter');
  // Before any work for a response that could not arrive.
  requireTimeToConsume(deps);
  const { clientId, clientSecret } = readClientCredentials(request);
  const loaded = await loadGrant(deps, request);
  const found = await loadGrantStatus(deps.database, clientId, loaded.record?.consentId ?? null);
  const { client, secretHash } = authenticateClient(found.client, clientSecret);
  deps.observe({ event: 'authenticated', client: client.clientId });
  deps.onSecretUsed(client.clientId, secretHash);
  const status = { client, grant: found.grant };
  const response = await redeem(deps, request, loaded, status).catch((error: unknown) => {
    deps.conduct.onRefused(client.clientId, loaded, error);
    throw error;
  });
  deps.conduct.onGranted(client.clientId, loaded);
  if (found.grant)
    deps.observe({ event: 'issued', grantType, client: client.clientId, sub: found.grant.sub });
  return response;
}

type Loaded =
  | ({ readonly kind: 'code' } & LoadedCode)
  | ({ readonly kind: 'family' } & LoadedFamily)
  | { readonly kind: 'unknown'; readonly presented: undefined; readonly record: undefined };

/** Changes nothing. */
async function loadGrant(deps: TokenDeps, request: TokenRequest): Promise<Loaded> {
  switch (request.grantType) {
    case 'authorization_code':
      return { kind: 'code', ...(await loadCode(deps, request.code)) };
    case 'refresh_token':
      return { kind: 'family', ...(await loadFamily(deps, request.refreshToken)) };
    default:
      return { kind: 'unknown', presented: undefined, record: undefined };
  }
}

async function redeem(deps: TokenDeps, request: TokenRequest, loaded: Loaded, status: CurrentStatus) {
  switch (loaded.kind) {
    case 'code':
      return redeemCode(deps, request, loaded, status);
    case 'family':
      return refreshTokens(deps, request, loaded, status);
    case 'unknown':
      throw tokenRefusal(request.grantType === '' ? 'grant_type_missing' : 'grant_type');
  }
}
