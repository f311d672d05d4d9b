// The user's decision (R6). What is checked again before a code: the client is active and still has the
// redirect URI (else a direct refusal: there is no address to answer to), the user is still signed in and
// enabled (else the login form comes next), the scopes are still approved (else `invalid_scope` by redirect).
import { isAboutAccount } from '../domain/binding.ts';
import type { ConsentId } from '../domain/ids.ts';
import { newId } from '../domain/ids.ts';
import { type Decision, type Interaction, type Outcome, stepOf } from '../domain/interaction.ts';
import { isWithin } from '../domain/scope.ts';
import { changeUndecided, decided } from './decision.ts';
import type { AuthorizationDependencies } from './dependencies.ts';
import { type OwnForm, openForm, type PresentedForm } from './held-form.ts';
import { conclude, isAbout, isAgreement, type Move, type MoveNeeds } from './move.ts';
import { findSubject, type SignedInNeeds } from './signed-in-user.ts';

type Needed = MoveNeeds & SignedInNeeds & Pick<AuthorizationDependencies, 'findClient' | 'randomBytes'>;

/** `unspecified`: an incomplete form; nothing changes. */
export type ConsentDecision = 'allow' | 'deny' | 'unspecified';

/**
 * Records the decision and, on `allow`, issues the code. The same browser repeating the same decision within
 * 10 s gets the same redirect; of two decisions the first stands.
 */
export async function submitConsent(
  deps: Needed,
  form: PresentedForm & { readonly decision: ConsentDecision },
): Promise<Move> {
  const own = await openForm(deps, form);
  if (own.kind !== 'own') return own;
  if (form.decision === 'unspecified') return { kind: 'next' };
  return form.decision === 'deny' ? deny(deps, own) : allow(deps, own, form);
}

/** Ends the transaction on the user's wish: `access_denied`, from any page before the decision. */
export async function cancelAuthorization(
  deps: MoveNeeds & Pick<AuthorizationDependencies, 'findClient'>,
  form: PresentedForm,
): Promise<Move> {
  const own = await openForm(deps, form);
  return own.kind === 'own' ? deny(deps, own) : own;
}

async function deny(deps: MoveNeeds, own: OwnForm): Promise<Move> {
  const now = deps.now();
  const held = await changeUndecided(deps, own.held, (interaction) =>
    decided(interaction, { kind: 'refused', error: 'access_denied' }, now),
  );
  return conclude(deps, own, held, isDenial);
}

function isDenial(decision: Decision): boolean {
  return decision.kind === 'refused' && decision.error === 'access_denied';
}

async function allow(deps: Needed, own: OwnForm, form: PresentedForm): Promise<Move> {
  const { interaction } = own.held;
  const { subject } = interaction;
  if (subject === undefined || !isAboutAccount(form.formToken, own.binding, subject.sub))
    return { kind: 'next' };
  if (interaction.decision) return conclude(deps, own, own.held, (made) => isAgreement(made, subject));
  if ((await findSubject(deps, interaction, form.browserSession)) === undefined) return { kind: 'next' };
  const [now, newConsentId] = [deps.now(), newId<ConsentId>(deps.randomBytes)];
  const outcome: Outcome = isWithin(interaction.request.scopes, own.client.scopes)
    ? { kind: 'allowed', subject, newConsentId }
    : { kind: 'refused', error: 'invalid_scope' };
  const held = await changeUndecided(deps, own.held, (current) =>
    isAbout(current, subject) && isAtConsent(current) ? decided(current, outcome, now) : current,
  );
  return conclude(deps, own, held, (made) => isAgreement(made, subject));
}

/** Whether the consent page is where the transaction stands; as if nothing were granted, so it always asks. */
function isAtConsent(interaction: Interaction): boolean {
  return stepOf(interaction, []) === 'consent';
}
