// Exchanges a code for tokens, once (specification §3, R9.2, R10.1).
import { currentCall } from '@course-exchange/runtime/process/request-context';
import { Refusal, tokenRefusal } from '../refusals/reasons.ts';
import { parseToken, sameHash } from '../secrets.ts';
import type { ReasonOf } from '../security-events.ts';
import {
  type CurrentStatus,
  type LoadedGrant,
  latestConsumption,
  prepareTokens,
  type RefuseGrant,
  requireOwn,
  type TokenDeps,
  type TokenRequest,
  type TokenResponse,
} from './grant.ts';
import { type AuthorizationCode, isRedirectUriOf, type Read } from './grant-record.ts';
import { exchangeCode, readAuthorizationCode, revokeOnReplay } from './grant-store.ts';
import { checkVerifierForm, matchesChallenge, verifyChallenge } from './pkce.ts';

export type LoadedCode = LoadedGrant<Read<AuthorizationCode>>;

const refuse: RefuseGrant<ReasonOf<'code.refused'>> = (reason, client, grant, earlier) => {
  const event = { event: 'code.refused', client, sub: grant?.sub, reason } as const;
  return new Refusal('token', 'invalid_grant', `code_${reason}`, { event, grant, earlier });
};

export async function loadCode({ redis, now }: TokenDeps, code: string): Promise<LoadedCode> {
  const presented = parseToken(code);
  return { presented, record: presented && (await readAuthorizationCode(redis, presented.familyId, now)) };
}

export async function redeemCode(
  deps: TokenDeps,
  request: TokenRequest,
  loaded: LoadedCode,
  status: CurrentStatus,
): Promise<TokenResponse> {
  checkParameters(request);
  const { clientId } = status.client;
  const { presented, record: code } = requireOwn(refuse, loaded, clientId);
  if (!sameHash(presented.hash, code.hash)) throw refuse('forged', clientId, code);
  if (code.used) throw await refuseReplay(deps, code, request);
  if (code.redirectUri !== request.redirectUri) throw refuse('redirect_uri', clientId, code);
  if (!verifyChallenge(code.pkce, request.codeVerifier, code)) throw refuse('verifier', clientId, code);
  const wanted = { refuse, scopes: code.scopes, idToken: code } as const;
  const { next, response } = await prepareTokens(deps, code, status, wanted);
  // The family has the scopes as granted: one that is approved again returns (R13.8).
  const outcome = await exchangeCode(deps.redis, code, next, latestConsumption(deps));
  if (outcome === 'gone') throw refuse('not_known', clientId, code);
  if (outcome !== 'exchanged') throw replayed(deps, { ...code, ...outcome }, outcome.revoked);
  deps.families.begin(code, next);
  return response;
}

function checkParameters({ code, redirectUri, codeVerifier }: TokenRequest): void {
  if (code === '' || redirectUri === '') throw tokenRefusal('code_or_redirect_uri_missing');
  checkVerifierForm(codeVerifier);
}

/** Knowing the code revokes nothing: the request must have been valid but for the first one (R10.2, R10.4). */
async function refuseReplay(
  deps: TokenDeps,
  code: AuthorizationCode,
  { redirectUri, codeVerifier }: TokenRequest,
): Promise<Refusal> {
  const valid = isRedirectUriOf(code, redirectUri) && matchesChallenge(code.pkce, codeVerifier);
  const by = { requestId: currentCall().requestId, at: deps.now() };
  return replayed(deps, code, valid && (await revokeOnReplay(deps.redis, code, by)));
}

function replayed({ families, observe }: TokenDeps, code: AuthorizationCode, revoked: boolean): Refusal {
  const { clientId: client, sub } = code;
  if (revoked) {
    families.revoke(code);
    observe({ event: 'grant.revoked', client, sub, reason: 'code_replayed' });
  }
  return refuse('replayed', client, code, code.usedBy);
}
