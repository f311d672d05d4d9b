// The account page: continue, or end the session and use another account (R5, R29).
import {
  advance,
  agree,
  applyChange,
  type FormResult,
  isAbout,
  type OwnedForm,
  openForm,
  type PresentedForm,
} from './form.ts';
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
  return { result: await continueAsCurrentUser(deps, own, form), sessionEnded: false };
}

function continueAsCurrentUser(deps: StepDeps, own: OwnedForm, form: PresentedForm): Promise<FormResult> {
  return agree(deps, own, form, (subject) =>
    advance(deps, own, subject, (interaction) =>
      isAbout(interaction, subject) ? { ...interaction, accountConfirmed: true } : interaction,
    ),
  );
}

async function switchAccount(deps: StepDeps, own: OwnedForm, cookie: string): Promise<AccountChoice> {
  const result = await forgetSubject(deps, own);
  if (result.kind !== 'next') return { result, sessionEnded: false };
  await signOut(deps, cookie, 'another_account', own.client.clientId);
  return { result, sessionEnded: true };
}

/** After the decision the session stays. */
async function forgetSubject(deps: StepDeps, own: OwnedForm): Promise<FormResult> {
  if (own.stored.sealed !== undefined) return { kind: 'next', page: 'login' };
  const tooLate = () => false;
  return applyChange(deps, own, tooLate, ({ subject: _, accountConfirmed: __, ...rest }) => rest);
}
