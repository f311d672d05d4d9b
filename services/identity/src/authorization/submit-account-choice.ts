// The account page: go on as the signed-in user, or use another account, which ends the session (R5, R29).
import { isAboutAccount } from '../domain/binding.ts';
import { changeUndecided } from './decision.ts';
import type { AuthorizationDependencies } from './dependencies.ts';
import { type OwnForm, openForm, type PresentedForm } from './held-form.ts';
import { conclude, isAbout, isAgreement, type Move, type MoveNeeds, moveOn } from './move.ts';
import { findSubject, type SignedInNeeds } from './signed-in-user.ts';

type Needed = MoveNeeds & SignedInNeeds & Pick<AuthorizationDependencies, 'findClient'>;

export interface AccountChoice {
  readonly move: Move;
  /** The gateway clears the session cookie. */
  readonly sessionEnded: boolean;
}

/** Moves the transaction by the choice; works from any page before the decision. */
export async function submitAccountChoice(
  deps: Needed,
  form: PresentedForm & { readonly useAnotherAccount: boolean },
): Promise<AccountChoice> {
  const own = await openForm(deps, form);
  if (own.kind !== 'own') return { move: own, sessionEnded: false };
  if (form.useAnotherAccount) return useAnother(deps, own, form.browserSession);
  return { move: await goOn(deps, own, form), sessionEnded: false };
}

async function goOn(deps: Needed, own: OwnForm, form: PresentedForm): Promise<Move> {
  const { subject, decision } = own.held.interaction;
  if (subject === undefined || !isAboutAccount(form.formToken, own.binding, subject.sub))
    return { kind: 'next' };
  if (decision) return conclude(deps, own, own.held, (made) => isAgreement(made, subject));
  if ((await findSubject(deps, own.held.interaction, form.browserSession)) === undefined)
    return { kind: 'next' };
  return moveOn(deps, own, subject, (interaction) =>
    isAbout(interaction, subject) ? { ...interaction, accountConfirmed: true } : interaction,
  );
}

async function useAnother(deps: Needed, own: OwnForm, cookie: string): Promise<AccountChoice> {
  const held = await changeUndecided(deps, own.held, ({ subject: _, accountConfirmed: __, ...rest }) => rest);
  // After a decision the choice comes too late: nothing has changed, so the session stays.
  const move = await conclude(deps, own, held, () => false);
  if (move.kind !== 'next') return { move, sessionEnded: false };
  await deps.endSession(cookie);
  return { move, sessionEnded: true };
}
