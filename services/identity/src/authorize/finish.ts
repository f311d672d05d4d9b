// How an interaction ends, in two steps with a crash point between them:
//   1. the decision is recorded (compare-and-set: the first one is final);
//   2. consent and code are created, each "unless it is there already", and the decision is marked completed.
// The browser's repeat within 10 s of a crash in between creates the same code, since it is derived from the
// interaction cookie. There is no code without a repeat; there are never two.
import { grantConsent } from '../consents/consent-table.ts';
import { authorizationRefusal } from '../refusals/reasons.ts';
import { countCode } from '../token/code-bound-store.ts';
import { createAuthorizationCode } from '../token/grant-store.ts';
import {
  type Allowed,
  type Decision,
  deriveCode,
  type Interaction,
  type InteractionCookie,
} from './interaction.ts';
import { replaceInteraction, type StoredInteraction } from './interaction-store.ts';
import { type AuthorizationRequest, authTimeClaim } from './request.ts';
import { codeRedirect, errorRedirect, type PartnerRedirect } from './response.ts';
import type { StepDeps } from './signed-in-user.ts';

const reasons = {
  access_denied: 'consent_denied',
  login_required: 'another_user_than_the_hinted_one',
  invalid_scope: 'scope_no_longer_approved',
} as const;

export function reportDecision(
  { observe }: Pick<StepDeps, 'observe'>,
  { request, subject, decision }: Interaction,
): void {
  const known = { client: request.clientId, sub: subject?.sub };
  if (decision?.kind === 'allowed' && decision.newConsent) observe({ event: 'consent.given', ...known });
  if (decision?.kind !== 'refused') return;
  const refusal = authorizationRefusal(reasons[decision.error]);
  observe({ event: 'authorization_refused', refusal, ...known });
}

/** Creates what the decision grants. Idempotent: same redirect, at most one code. */
export async function completeDecision(
  deps: StepDeps,
  stored: StoredInteraction,
  decision: Decision,
  cookie: InteractionCookie,
): Promise<PartnerRedirect> {
  const { interaction } = stored;
  if (decision.kind === 'refused') return errorRedirect(interaction.request, decision.error);
  if (!decision.completed) {
    await issueCode(deps, interaction.request, decision, cookie);
    const completed = { ...decision, completed: true } as const;
    await replaceInteraction(deps.redis, stored, { ...interaction, decision: completed }, deps.now());
  }
  return codeRedirect(interaction.request, deriveCode(cookie).code);
}

/** Idempotent, also after a crash between the writes. */
export async function issueCode(
  { database, redis, now }: StepDeps,
  request: AuthorizationRequest,
  { subject: { sub, authTime }, consentId, newConsent }: Allowed,
  cookie: InteractionCookie,
): Promise<void> {
  const { clientId, redirectUri, scopes, nonce, pkce, state } = request;
  const { familyId, hash } = deriveCode(cookie);
  const granted = newConsent && (await grantConsent(database, consentId, { sub, clientId, scopes }));
  await countCode(redis, { sub, familyId }, now());
  await createAuthorizationCode(redis, {
    familyId,
    hash,
    clientId,
    redirectUri,
    sub,
    consentId: granted?.consentId ?? consentId,
    scopes,
    nonce,
    stateMissing: state === '',
    pkce,
    authTime: authTimeClaim(request, authTime),
    // An operator's sign-out between login and code leaves the code dead (R13.5).
    loggedInAt: authTime,
  });
}
