// How an interaction ends. Two steps with a crash point between them:
//   1. the decision is recorded in the interaction (compare-and-set: the first one is final);
//   2. what it promises is made: consent and code, each "unless it is there already", then marked completed.
// A crash after 1 is healed when the browser repeats its form within 10 s: the code is derived from the
// interaction cookie, so the repeat makes the same one. A crash after 1 without a repeat leaves an interaction without
// a code, never two codes.
import { Failure } from '@course-exchange/runtime/process/errors';
import { grantConsent } from '../consents/consent-table.ts';
import type { securityEvents } from '../security-events.ts';
import { countCode, createAuthorizationCode } from '../token/grant-store.ts';
import {
  type Allowed,
  type Decision,
  deriveCode,
  type Interaction,
  type InteractionCookie,
} from './interaction.ts';
import { replaceInteraction, type StoredInteraction } from './interaction-store.ts';
import { type AuthorizationRequest, authTimeClaim } from './request.ts';
import { codeRedirect, errorRedirect, type PartnerRedirect, type RedirectedError } from './response.ts';
import type { StepDeps } from './signed-in-user.ts';

type Deps = Pick<StepDeps, 'database' | 'redis' | 'now'>;

/** Why an interaction was decided against the partner. */
const reasons: Partial<Record<RedirectedError, string>> = {
  access_denied: 'consent.denied' satisfies keyof typeof securityEvents,
  login_required: 'another user than the hinted one',
  invalid_scope: 'scope no longer approved',
};

/** Tells of a decision, once it is recorded. What needed no asking is no event. */
export function reportDecision(
  { onSecurityEvent, onAuthorizationRefused }: Pick<StepDeps, 'onSecurityEvent' | 'onAuthorizationRefused'>,
  { request, subject, decision }: Interaction,
): void {
  const known = { client: request.clientId, sub: subject?.sub };
  if (decision?.kind === 'allowed' && decision.newConsent)
    onSecurityEvent({ event: 'consent.given', ...known });
  if (decision?.kind !== 'refused') return;
  const { error } = decision;
  onAuthorizationRefused(new Failure(error, reasons[error] ?? error), request.clientId);
  if (error === 'access_denied') onSecurityEvent({ event: 'consent.denied', ...known });
}

/**
 * Makes what the recorded decision promises and returns the redirect to the partner. Idempotent: every call
 * gives the same redirect, and there is one code at most. Secret (R27).
 */
export async function completeDecision(
  deps: Deps,
  stored: StoredInteraction,
  decision: Decision,
  cookie: InteractionCookie,
): Promise<PartnerRedirect> {
  const { interaction } = stored;
  if (decision.kind === 'refused') return errorRedirect(interaction.request, decision.error);
  if (!decision.completed) {
    await issueCode(deps, interaction.request, decision, cookie);
    // Lost to a twin of this call: the twin has done the same.
    const completed = { ...decision, completed: true } as const;
    await replaceInteraction(deps.redis, stored, { ...interaction, decision: completed }, deps.now());
  }
  return codeRedirect(interaction.request, deriveCode(cookie).code);
}

/**
 * Grants the consent where there is none and creates the code of the interaction cookie. Idempotent. Crash point
 * between the two writes: the consent is there without a code; a repeat extends it by nothing.
 */
export async function issueCode(
  { database, redis, now }: Deps,
  request: AuthorizationRequest,
  { subject: { sub, authTime }, consentId, newConsent }: Allowed,
  cookie: InteractionCookie,
): Promise<void> {
  const { clientId, redirectUri, scopes, nonce, pkce } = request;
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
    pkce,
    authTime: authTimeClaim(request, authTime),
    // Not the time of the decision: a sign-out that came between login and code leaves the code dead (R13).
    loggedInAt: authTime,
  });
}
