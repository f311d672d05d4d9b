// The token endpoint in the order of R8. Method and content type are the gateway's.
import { tokenParameters } from '@course-exchange/rules/parameters';
import { Refusal } from '../refusals/reasons.ts';
import { authorizationCodeGrant } from './authorization-code-grant.ts';
import { authenticateClient, claimedClientId, readClientCredentials } from './client-authentication.ts';
import {
  type Grant,
  requireTimeToConsume,
  type TokenDeps,
  type TokenRequest,
  type TokenResponse,
} from './grant.ts';
import type { GrantRecord } from './grant-record.ts';
import { loadGrantStatus } from './grant-status-table.ts';
import { refreshTokenGrant } from './refresh-token-grant.ts';

/** Consumes nothing when it refuses (R9.1), but deletes a dead grant (R13.2, R13.3). Throws `Failure`. */
export async function exchangeToken(deps: TokenDeps, request: TokenRequest): Promise<TokenResponse> {
  try {
    const { response, client, grant } = await answerByGrant(deps, request);
    const { grantType } = request;
    if (grant) deps.onIssued({ grantType, clientId: client.clientId, sub: grant.sub });
    return response;
  } catch (error) {
    if (error instanceof Refusal && error.facts.event) deps.onSecurityEvent(error.facts.event);
    deps.onTokenRefused(error, () => claimedClientId(request));
    throw error;
  }
}

function answerByGrant(deps: TokenDeps, request: TokenRequest) {
  switch (request.grantType) {
    case 'authorization_code':
      return answer(deps, request, authorizationCodeGrant);
    case 'refresh_token':
      return answer(deps, request, refreshTokenGrant);
    default:
      return answer(deps, request, unknownGrant);
  }
}

async function answer<Loaded extends GrantRecord>(
  deps: TokenDeps,
  request: TokenRequest,
  grant: Grant<Loaded>,
) {
  if (request.repeatedParameters.some((name) => tokenParameters.includes(name)))
    throw new Refusal('repeated parameter');
  // Before any work for an answer that could not arrive.
  requireTimeToConsume(deps);
  const { clientId, clientSecret } = readClientCredentials(request);
  const loaded = await grant.load(deps, request);
  const found = await loadGrantStatus(deps.database, clientId, loaded.record?.consentId ?? null);
  const { client, secretHash } = authenticateClient(found.client, clientSecret);
  deps.onAuthenticated(client.clientId);
  deps.onSecretUsed(client.clientId, secretHash);
  const status = { client, grant: found.grant };
  const response = await grant.issue(deps, request, loaded, status).catch((error: unknown) => {
    deps.conduct.onRefused(client.clientId, loaded, error);
    throw error;
  });
  deps.conduct.onGranted(client.clientId, loaded);
  return { ...status, response };
}

/** Refused only after client authentication (R8). */
const unknownGrant: Grant<GrantRecord> = {
  load: async () => ({ presented: undefined, record: undefined }),
  issue: async (_deps, { grantType }) => {
    throw new Refusal(grantType === '' ? 'grant_type missing' : 'grant_type');
  },
};
