// The token endpoint in the order of R8: duplicates, client authentication, grant type, parameters, grant. Method and
// content type are the gateway's.
import { Failure, isFault } from '@course-exchange/runtime/process/errors';
import { clientOf, logText } from '@course-exchange/runtime/process/logger';
import { errorType, unknownClient } from '@course-exchange/runtime/process/metrics';
import { nameSubject } from '@course-exchange/runtime/process/request-context';
import { annotate } from '@course-exchange/runtime/process/spans';
import { identityMetrics } from '../metrics.ts';
import { Refusal } from '../security-events.ts';
import { authorizationCodeGrant } from './authorization-code-grant.ts';
import { authenticateClient, readClientCredentials } from './client-authentication.ts';
import {
  type Grant,
  requireTimeToConsume,
  type TokenDeps,
  type TokenRequest,
  type TokenResponse,
} from './grant.ts';
import { loadGrantStatus } from './grant-status-table.ts';
import type { GrantRecord } from './grant-store.ts';
import { refreshTokenGrant } from './refresh-token-grant.ts';

/** Parameters that the token endpoint knows; others are ignored. */
const tokenParameters =
  'grant_type code redirect_uri code_verifier refresh_token scope client_id client_secret'.split(' ');

/**
 * Answers one token request. A failed one consumes nothing (R9) but a dead grant (R13). Throws `Failure`
 * with the codes of specification §7, or `temporarily_unavailable` when a store does not answer (R14).
 */
export async function exchangeToken(deps: TokenDeps, request: TokenRequest): Promise<TokenResponse> {
  return answerByGrant(deps, request).catch((error: unknown) => {
    tellRefused(deps, error);
    throw error;
  });
}

/** One line: a refusal that is a security event has its own, a fault that of the call. */
function tellRefused({ onSecurityEvent, onRefused }: TokenDeps, error: unknown): void {
  const event = error instanceof Refusal ? error.event : undefined;
  const sentence = error instanceof Failure ? error.message : '';
  identityMetrics.tokensRefused.add({
    'error.type': errorType(error),
    reason: event?.reason ?? sentence,
    client_id: clientOf() ?? unknownClient,
  });
  if (event) onSecurityEvent(event);
  else if (error instanceof Failure && !isFault(error)) onRefused(error, clientOf());
}

function answerByGrant(deps: TokenDeps, request: TokenRequest): Promise<TokenResponse> {
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
): Promise<TokenResponse> {
  if (request.repeatedParameters.some((name) => tokenParameters.includes(name)))
    throw new Failure('invalid_request', 'repeated parameter');
  // Before any work for an answer that nobody would get.
  requireTimeToConsume(deps);
  const { clientId, clientSecret } = readClientCredentials(request);
  const loaded = await grant.load(deps, request);
  const status = await loadGrantStatus(deps.database, clientId, loaded.record?.consentId ?? null);
  const { client, secretHash } = authenticateClient(status.client, clientSecret);
  nameSubject({ client: client.clientId });
  annotate(() => ({ 'course_exchange.client_id': logText(client.clientId) }));
  deps.onSecretUsed(client.clientId, secretHash);
  const response = await grant.issue(deps, request, loaded, { client, grant: status.grant });
  identityMetrics.tokensIssued.add({ grant_type: request.grantType, client_id: client.clientId });
  if (status.grant)
    deps.onIssued({ grantType: request.grantType, clientId: client.clientId, sub: status.grant.sub });
  return response;
}

/** Refused only after the client was authenticated (R8). */
const unknownGrant: Grant<GrantRecord> = {
  load: async () => ({ presented: undefined, record: undefined }),
  issue: async (_deps, { grantType }) => {
    const code = grantType === '' ? 'invalid_request' : 'unsupported_grant_type';
    throw new Failure(code, 'grant_type');
  },
};
