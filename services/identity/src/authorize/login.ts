// A submitted login form.
import {
  type AcceptedCredentials,
  type Credentials,
  checkCredentials,
  type LoginDeps,
  type RejectedCredentials,
} from '../login/credentials.ts';
import { hashSecret, newSecret } from '../secrets.ts';
import { type StartedInteraction, startLogin } from './begin.ts';
import {
  apply,
  askedOf,
  findOpen,
  type OwnedForm,
  openForm,
  type PresentedForm,
  type RejectedForm,
  rejectForm,
} from './form.ts';
import type { Holder, Page, Subject } from './interaction.ts';
import { type LoginPage, loginPage } from './page.ts';
import type { PartnerRedirect } from './response.ts';
import { createSession, endSession } from './session-store.ts';
import { type StepDeps, signOut } from './signed-in-user.ts';

export interface LoginForm extends PresentedForm, Credentials {
  /** The browser's own form comes without the interaction's cookie. */
  readonly cookieGone: boolean;
}

interface RejectedLogin extends RejectedCredentials {
  readonly view: LoginPage;
}

interface LoginCookies {
  readonly browserSession: string;
  readonly deviceCookie: string;
}

export type LoginOutcome =
  | ({ readonly kind: 'accepted'; readonly page: Page } & LoginCookies)
  | (PartnerRedirect & LoginCookies)
  | RejectedLogin
  | StartedInteraction
  | RejectedForm;

/** Accepted until the decision, and for 10 s after it. Only the owner's form verifies a password. */
export async function submitLogin(deps: StepDeps & LoginDeps, form: LoginForm): Promise<LoginOutcome> {
  if (form.cookieGone) return startAgain(deps, form);
  const own = await openForm(deps, form);
  if (own.kind !== 'owned') return own;
  const { interaction } = own.stored;
  const check = await checkCredentials(deps, form, interaction.request.clientId);
  if (check.kind === 'accepted') return signIn(deps, own, form, check);
  if (interaction.decision) return rejectForm(deps, interaction, 'form_came_too_late');
  return { ...check, view: await loginPage(deps, own, form.browserSession, form.email) };
}

/** Whoever has the sealed form had its page (R6.13); an identifier stands in URLs, and shows nobody's state or nonce. */
async function startAgain(deps: StepDeps, form: LoginForm): Promise<StartedInteraction | RejectedForm> {
  const open = await findOpen(deps, form);
  if (open.kind !== 'open') return open;
  const { interaction } = open.stored;
  if (interaction.decision) return rejectForm(deps, interaction, 'form_came_too_late');
  if ((await deps.seal.open(form.sealedInteraction))?.id !== interaction.id)
    return rejectForm(deps, interaction, 'form_of_another_browser');
  return startLogin(deps, open.client, interaction.request, form.browserSession, form.email);
}

async function signIn(
  deps: StepDeps & LoginDeps,
  own: OwnedForm,
  form: LoginForm,
  { user: { sub }, loggedInAt: authTime, deviceCookie }: AcceptedCredentials,
): Promise<LoginOutcome> {
  const browserSession = form.forgetMe ? '' : newSecret(deps.randomBytes);
  // First: after a crash no browser has its cookie.
  if (!form.forgetMe) await createSession(deps.redis, browserSession, { sub, authTime, lastUsed: authTime });
  const subject: Subject = { sub, authTime, origin: form.forgetMe ? 'login-once' : 'login' };
  const holder: Holder = { sub, session: form.forgetMe ? undefined : hashSecret(browserSession) };
  const result = await apply(deps, own, {
    kind: 'logged_in',
    holder,
    ...(await askedOf(deps, own, subject)),
  });
  if (result.kind === 'expired' || (result.kind === 'redirect' && !result.effective)) {
    await endSession(deps.redis, browserSession);
    return result;
  }
  // Ends the previous session of this browser, also of another user.
  const client = own.client.clientId;
  await signOut(deps, form.browserSession, 'new_login', client);
  if (!form.forgetMe) deps.observe({ event: 'session.begun', client, sub });
  if (result.kind === 'redirect') return { ...result, browserSession, deviceCookie };
  return { kind: 'accepted', page: result.page, browserSession, deviceCookie };
}
