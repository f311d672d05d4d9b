// One move of a transaction: what a form changes, whether that leaves anything to ask, and what comes next.
import { errorLocation } from '../domain/authorization-answer.ts';
import {
  type Decision,
  type Interaction,
  type Outcome,
  type Subject,
  stepOf,
} from '../domain/interaction.ts';
import { isWithin } from '../domain/scope.ts';
import type { Client } from '../store/postgres/clients.ts';
import type { Consent } from '../store/postgres/consents.ts';
import type { HeldInteraction } from '../store/redis/interactions.ts';
import { changeUndecided, completeDecision, decided } from './decision.ts';
import type { AuthorizationDependencies } from './dependencies.ts';
import type { DeadForm, OwnForm } from './held-form.ts';

/** What the gateway does after a form: shows the transaction's page, or redirects to the partner. */
export type Move =
  | { readonly kind: 'next' }
  | { readonly kind: 'redirect'; readonly location: string }
  | DeadForm;

export type MoveNeeds = Pick<
  AuthorizationDependencies,
  | 'now'
  | 'findInteraction'
  | 'replaceInteraction'
  | 'findConsent'
  | 'grantConsent'
  | 'createAuthorizationCode'
>;

/**
 * Applies `change`, by which the transaction is about `subject`, and decides when nothing is left to ask.
 * When the transaction is about somebody else meanwhile (a login in another tab), its page comes next.
 */
export async function moveOn(
  deps: MoveNeeds,
  own: OwnForm,
  subject: Subject,
  change: (interaction: Interaction) => Interaction,
): Promise<Move> {
  const consent = await deps.findConsent(subject.sub, own.client.clientId);
  const now = deps.now();
  const held = await changeUndecided(deps, own.held, (interaction) => {
    const moved = change(interaction);
    const outcome = isAbout(moved, subject) ? outcomeOf(moved, subject, own.client, consent) : undefined;
    return outcome ? decided(moved, outcome, now) : moved;
  });
  return conclude(deps, own, held, (decision) => isAgreement(decision, subject));
}

/** The decision that needs no asking: everything is granted already, or the partner lost a scope (R6). */
function outcomeOf(
  interaction: Interaction,
  subject: Subject,
  client: Client,
  consent: Consent | undefined,
): Outcome | undefined {
  if (!isWithin(interaction.request.scopes, client.scopes))
    return { kind: 'refused', error: 'invalid_scope' };
  const step = stepOf(interaction, consent?.scopes ?? []);
  if (step !== 'decide' || consent === undefined) return undefined;
  return { kind: 'allowed', subject, consentId: consent.consentId };
}

export function isAbout({ subject }: Interaction, { sub }: Subject): boolean {
  return subject?.sub === sub;
}

/** What agreeing as `subject` leads to: a code for that user, or the scope that is no longer approved. */
export function isAgreement(decision: Decision, { sub }: Subject): boolean {
  if (decision.kind === 'refused') return decision.error === 'invalid_scope';
  return decision.subject.sub === sub;
}

/**
 * Answers for the transaction as it stands after a form: its next page, or the redirect of its decision when
 * that is the form's own (`isSame`). Against another decision, which came first, the form changes nothing.
 */
export async function conclude(
  deps: MoveNeeds,
  { binding }: OwnForm,
  held: HeldInteraction | undefined,
  isSame: (decision: Decision) => boolean,
): Promise<Move> {
  if (held === undefined) return { kind: 'expired' };
  const { decision, request } = held.interaction;
  if (decision === undefined) return { kind: 'next' };
  if (!isSame(decision)) return { kind: 'foreign', location: errorLocation(request, 'invalid_request') };
  return { kind: 'redirect', location: await completeDecision(deps, held, decision, binding) };
}
