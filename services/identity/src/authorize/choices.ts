// The user's choices. Account page: continue, or end the session and use another account (R5.4, R29.3). Consent page:
// the decision, before which client, user, scopes (R6.5) and redirect URI are checked again.
import type { ConsentId } from '../ids.ts';
import { newId } from '../secrets.ts';
import { reportDecision } from './finish.ts';
import {
  apply,
  askedOf,
  currentPage,
  type FormResult,
  findAgreeing,
  type OwnedForm,
  openForm,
  type PresentedForm,
} from './form.ts';
import { step } from './interaction.ts';
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
  return { result: await confirmAccount(deps, own, form), sessionEnded: false };
}

async function confirmAccount(deps: StepDeps, own: OwnedForm, form: PresentedForm): Promise<FormResult> {
  const shown = await findAgreeing(deps, own, form);
  if (shown.kind !== 'agreeing') return shown;
  return apply(deps, own, { kind: 'account_confirmed', ...(await askedOf(deps, own, shown.subject)) });
}

async function switchAccount(deps: StepDeps, own: OwnedForm, cookie: string): Promise<AccountChoice> {
  const result: FormResult =
    own.stored.kind === 'stored'
      ? await apply(deps, own, { kind: 'another_account' })
      : { kind: 'next', page: 'login' };
  // The session stays after the decision.
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
  const denied = { kind: 'denied', at: deps.now() } as const;
  if (own.stored.kind === 'stored') return apply(deps, own, denied);
  // Not stored yet: the browser may go back and log in.
  const { interaction } = own.stored;
  reportDecision(deps, step(interaction, denied));
  return errorRedirect(interaction.request, 'access_denied');
}

async function allow(deps: StepDeps, own: OwnedForm, form: PresentedForm): Promise<FormResult> {
  const shown = await findAgreeing(deps, own, form);
  if (shown.kind !== 'agreeing') return shown;
  const { subject } = shown;
  const consentId = newId<ConsentId>(deps.randomBytes);
  const approved = own.client.scopes;
  return apply(deps, own, { kind: 'allowed', subject, consentId, approved, at: deps.now() });
}
