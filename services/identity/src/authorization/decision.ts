// How a transaction ends. Two steps with a crash point between them:
//   1. the decision is recorded in the transaction (compare-and-set: the first one stands);
//   2. what it promises is made: consent and code, each "unless it is there already", then marked completed.
// A crash after 1 is healed when the browser repeats its form within 10 s: the code is derived from the
// binding, so the repeat makes the same one. A crash after 1 without a repeat leaves a transaction without a
// code, never two codes.
import { unavailable } from '@course-exchange/runtime/failure';
import { codeLocation, errorLocation } from '../domain/authorization-answer.ts';
import { authTimeClaim } from '../domain/authorization-request.ts';
import { type Binding, deriveCode } from '../domain/binding.ts';
import type { ConsentId } from '../domain/ids.ts';
import type { Allowed, Decision, Interaction, Outcome } from '../domain/interaction.ts';
import type { HeldInteraction } from '../store/redis/interactions.ts';
import type { AuthorizationDependencies } from './dependencies.ts';

/** Lost compare-and-sets after which a change gives up; a transaction changes a handful of times in all. */
const attempts = 8;

/**
 * Changes an undecided transaction by `change`; when another change came first, `change` sees its result.
 * Returns the transaction as it stands afterwards: with `change` applied, or decided by somebody else.
 * Undefined when it is gone. `change` may run several times and has no side effects.
 */
export async function changeUndecided(
  { findInteraction, replaceInteraction }: ChangeNeeds,
  held: HeldInteraction,
  change: (interaction: Interaction) => Interaction,
): Promise<HeldInteraction | undefined> {
  let current: HeldInteraction | undefined = held;
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    if (current === undefined || current.interaction.decision) return current;
    const replaced = await replaceInteraction(current, change(current.interaction));
    if (replaced) return replaced;
    current = await findInteraction(held.interaction.id);
  }
  throw unavailable('a contended transaction');
}

type ChangeNeeds = Pick<AuthorizationDependencies, 'findInteraction' | 'replaceInteraction'>;

/** The transaction with its decision; nothing changes it any more. */
export function decided(interaction: Interaction, outcome: Outcome, now: number): Interaction {
  return { ...interaction, decision: { ...outcome, at: now } };
}

type CompletionNeeds = Pick<
  AuthorizationDependencies,
  'grantConsent' | 'createAuthorizationCode' | 'replaceInteraction'
>;

/**
 * Makes what the recorded decision promises and returns the redirect to the partner. Idempotent: every call
 * gives the same redirect, and there is one code at most. Secret (R27).
 */
export async function completeDecision(
  deps: CompletionNeeds,
  held: HeldInteraction,
  decision: Decision,
  binding: Binding,
): Promise<string> {
  const { interaction } = held;
  if (decision.kind === 'refused') return errorLocation(interaction.request, decision.error);
  if (!decision.completed) {
    await issueCode(deps, interaction, decision, binding);
    // Lost to a twin of this call: the twin has done the same.
    await deps.replaceInteraction(held, { ...interaction, decision: { ...decision, completed: true } });
  }
  return codeLocation(interaction.request, deriveCode(binding).code);
}

/**
 * Grants the consent where there is none and creates the code of `binding`. Idempotent. Crash point between
 * the two writes: the consent stands without a code; a repeat extends it by nothing.
 */
export async function issueCode(
  deps: Pick<CompletionNeeds, 'grantConsent' | 'createAuthorizationCode'>,
  { request }: Pick<Interaction, 'request'>,
  decision: Allowed & { readonly at: number },
  binding: Binding,
): Promise<void> {
  const { family, hash } = deriveCode(binding);
  const { clientId, redirectUri, scopes, nonce, pkce } = request;
  const { sub, authTime } = decision.subject;
  await deps.createAuthorizationCode({
    ...{ family, hash, clientId, redirectUri, sub, scopes, nonce, pkce },
    consentId: await consentOf(deps, { request }, decision),
    authTime: authTimeClaim(request, authTime),
    // Not the time of the decision: a sign-out that came between login and code leaves the code dead (R13).
    loggedInAt: authTime,
  });
}

async function consentOf(
  { grantConsent }: Pick<CompletionNeeds, 'grantConsent'>,
  { request: { clientId, scopes } }: Pick<Interaction, 'request'>,
  { consentId, newConsentId, subject: { sub } }: Allowed,
): Promise<ConsentId> {
  if (consentId !== undefined) return consentId;
  if (newConsentId === undefined) throw new Error('an allowed transaction without a consent');
  return (await grantConsent(newConsentId, { sub, clientId, scopes })).consentId;
}
