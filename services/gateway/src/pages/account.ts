// Pages about the signed-in account: "Continue with this account?", sign-out and signed out (R5.4, R29.4).
import type { AccountSummary, AccountView } from '@course-exchange/proto/identity/v1/authorization';
import { html, nameOf } from './html.ts';
import {
  cancelForm,
  choice,
  form,
  type InteractionFields,
  type PageLayout,
  renderPage,
  signedInAs,
} from './layout.ts';

type AccountContent = InteractionFields & Pick<AccountView, 'account'>;

export function accountPage(layout: PageLayout, content: AccountContent): string {
  const { messages } = layout.language;
  const { account } = messages;
  const who = content.account?.name || content.account?.email || '';
  const choices = html`${choice('choice', 'continue', 'primary', account.proceed(nameOf(who)))}
${choice('choice', 'another', 'secondary', messages.anotherAccount)}`;
  const main = html`<h1>${account.heading}</h1>
<p>${account.intro(nameOf(content.partner))}</p>
${signedInAs(messages, content.account)}
${form('/account', content, choices)}
${cancelForm(messages, content)}`;
  return renderPage(layout, { name: account.heading, partner: content.partner, main });
}

export function signOutPage(layout: PageLayout, account: AccountSummary, formToken: string): string {
  const { messages } = layout.language;
  const { signOut } = messages;
  const main = html`<h1>${signOut.heading}</h1>
${signedInAs(messages, account)}
<form method="post" action="/sign-out">
<input type="hidden" name="form_token" value="${formToken}">
<button class="primary" type="submit">${signOut.button}</button>
</form>
<p class="hint note">${signOut.connected}</p>`;
  return renderPage(layout, { name: signOut.heading, main });
}

export function signedOutPage(layout: PageLayout): string {
  const { signedOut } = layout.language.messages;
  const main = html`<h1>${signedOut.heading}</h1>
<p>${signedOut.text}</p>
<p class="hint note">${signedOut.connected}</p>`;
  return renderPage(layout, { name: signedOut.heading, main });
}
