// The user's choices. Account page: continue, or end the session and use another account (R5.4, R29.3). Consent page:
// the decision, before which client, user, scopes (R6.5) and redirect URI are checked again.
import { isWithin } from '../clients/scope.ts';
import type { ConsentId } from '../ids.ts';
import { newId } from '../secrets.ts';
import { reportDecision } from './finish.ts';
import {
  advance,
  agree,
  agreementAs,
  applyChange,
  currentPage,
  type FormResult,
  isAbout,
  type OwnedForm,
  openForm,
  type PresentedForm,
} from './form.ts';
import { type Decision, decided, type Interaction, type Outcome, pageOf } from './interaction.ts';
import { errorRedirect } from './response.ts';
import { type StepDeps, signOut } from './signed-in-user.ts';

export interface AccountChoice {
  readonly result: FormResult;
  readonly sessionEnded: boolean;
}

export async function submitAccountChoice(
  deps: StepDeps,
  form: PresentedForm & { readonly useAnotherAccount: boolean },
): Promise<AccountChoice> {
  const own = await openForm(deps, form);
  if (own.kind !== 'owned') return { result: own, sessionEnded: false };
  if (form.useAnotherAccount) return switchAccount(deps, own, form.browserSession);
  const result = await agree(deps, own, form, (subject) =>
    advance(deps, own, subject, (interaction) =>
      isAbout(interaction, subject) ? { ...interaction, accountConfirmed: true } : interaction,
    ),
  );
  return { result, sessionEnded: false };
}

async function switchAccount(deps: StepDeps, own: OwnedForm, cookie: string): Promise<AccountChoice> {
  // The session stays after the decision.
  const tooLate = () => false;
  const result: FormResult =
    own.stored.sealed === undefined
      ? await applyChange(deps, own, tooLate, ({ subject: _, accountConfirmed: __, ...rest }) => rest)
      : { kind: 'next', page: 'login' };
  if (result.kind !== 'next') return { result, sessionEnded: false };
  await signOut(deps, cookie, 'another_account', own.client.clientId);
  return { result, sessionEnded: true };
}

export type ConsentDecision = 'allow' | 'deny' | 'unspecified';

/** The first decision is final; a repeat by the same browser within 10 s gets the same redirect. */
export async function submitConsent(
  deps: StepDeps,
  form: PresentedForm & { readonly decision: ConsentDecision },
): Promise<FormResult> {
  const own = await openForm(deps, form);
  if (own.kind !== 'owned') return own;
  if (form.decision === 'unspecified') return currentPage(deps, own, form.browserSession);
  return form.decision === 'deny' ? deny(deps, own) : allow(deps, own, form);
}

export async function cancelAuthorization(deps: StepDeps, form: PresentedForm): Promise<FormResult> {
  const own = await openForm(deps, form);
  return own.kind === 'owned' ? deny(deps, own) : own;
}

async function deny(deps: StepDeps, own: OwnedForm): Promise<FormResult> {
  const now = deps.now();
  const refuse = (interaction: Interaction) =>
    decided(interaction, { kind: 'refused', error: 'access_denied' }, now);
  const isDenial = (decision: Decision) => decision.kind === 'refused' && decision.error === 'access_denied';
  if (own.stored.sealed === undefined) return applyChange(deps, own, isDenial, refuse);
  // Not stored yet: the browser may go back and log in.
  const { interaction } = own.stored;
  reportDecision(deps, refuse(interaction));
  return errorRedirect(interaction.request, 'access_denied');
}

function allow(deps: StepDeps, own: OwnedForm, form: PresentedForm): Promise<FormResult> {
  return agree(deps, own, form, (subject) => {
    const now = deps.now();
    const consentId = newId<ConsentId>(deps.randomBytes);
    const outcome: Outcome = isWithin(own.stored.interaction.request.scopes, own.client.scopes)
      ? { kind: 'allowed', subject, consentId, newConsent: true }
      : { kind: 'refused', error: 'invalid_scope' };
    return applyChange(deps, own, agreementAs(subject), (current) =>
      isAbout(current, subject) && pageOf(current) === 'consent' ? decided(current, outcome, now) : current,
    );
  });
}
