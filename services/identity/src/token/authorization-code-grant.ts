// Exchanges a code for tokens, once (specification §3, R9.2, R10.1).
import { Refusal } from '../refusals/reasons.ts';
import { parseToken } from '../secrets.ts';
import {
  type CurrentStatus,
  type LoadedGrant,
  latestConsumption,
  prepareTokens,
  refusedGrant,
  requireOwn,
  type TokenDeps,
  type TokenRequest,
  type TokenResponse,
} from './grant.ts';
import { type AuthorizationCode, isRedirectUriOf } from './grant-record.ts';
import { exchangeCode, readAuthorizationCode, revokeOnReplay } from './grant-store.ts';
import { checkVerifierForm, matchesChallenge, verifyChallenge } from './pkce.ts';

const refused = 'code.refused';

export async function loadCode(
  { redis, now }: TokenDeps,
  code: string,
): Promise<LoadedGrant<AuthorizationCode>> {
  const presented = parseToken(code);
  return { presented, record: presented && (await readAuthorizationCode(redis, presented.familyId, now)) };
}

export async function redeemCode(
  deps: TokenDeps,
  request: TokenRequest,
  loaded: LoadedGrant<AuthorizationCode>,
  status: CurrentStatus,
): Promise<TokenResponse> {
  checkParameters(request);
  const { clientId } = status.client;
  const code = requireOwn(refused, loaded, clientId);
  if (code.used) throw await refuseReplay(deps, code, request);
  if (code.redirectUri !== request.redirectUri) throw refusedGrant(refused, 'redirect_uri', clientId, code);
  if (!verifyChallenge(code.pkce, request.codeVerifier, code))
    throw refusedGrant(refused, 'verifier', clientId, code);
  const wanted = { refused, scopes: code.scopes, idToken: code } as const;
  const { next, response } = await prepareTokens(deps, code, status, wanted);
  // The family has the scopes as granted: one that is approved again returns (R13.8).
  const outcome = await exchangeCode(deps.redis, code, next, latestConsumption(deps));
  if (outcome === 'gone') throw refusedGrant(refused, 'not_known', clientId, code);
  if (outcome !== 'exchanged') throw replayed(deps, { ...code, ...outcome }, outcome.revoked);
  deps.families.begin(code, next);
  return response;
}

function checkParameters({ code, redirectUri, codeVerifier }: TokenRequest): void {
  if (code === '' || redirectUri === '') throw new Refusal('code or redirect_uri missing');
  checkVerifierForm(codeVerifier);
}

/** Knowing the code revokes nothing: the request must have been valid but for the first one (R10.2, R10.4). */
async function refuseReplay(
  deps: TokenDeps,
  code: AuthorizationCode,
  { redirectUri, codeVerifier }: TokenRequest,
): Promise<Refusal> {
  const valid = isRedirectUriOf(code, redirectUri) && matchesChallenge(code.pkce, codeVerifier);
  const by = { requestId: deps.requestId(), at: deps.now() };
  return replayed(deps, code, valid && (await revokeOnReplay(deps.redis, code, by)));
}

function replayed(
  { families, onSecurityEvent }: TokenDeps,
  code: AuthorizationCode,
  revoked: boolean,
): Refusal {
  const { clientId: client, sub } = code;
  if (revoked) {
    families.revoke(code);
    onSecurityEvent({ event: 'grant.revoked', client, sub, reason: 'code_replayed' });
  }
  return refusedGrant(refused, 'replayed', client, code, code.usedBy);
}
