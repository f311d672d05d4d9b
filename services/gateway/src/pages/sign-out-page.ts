// The sign-out page and what it says when nobody is signed in (R29).
import type { AccountSummary } from '@course-exchange/proto/identity/v1/authorization';
import { type Frame, renderPage } from './frame.ts';
import { html } from './html.ts';
import { signedInAs } from './parts.ts';

export function signOutPage(frame: Frame, account: AccountSummary, formToken: string): string {
  const { messages } = frame.language;
  const { signOut } = messages;
  const main = html`<h1>${signOut.heading}</h1>
${signedInAs(messages, account)}
<form method="post" action="/sign-out">
<input type="hidden" name="form_token" value="${formToken}">
<button class="primary" type="submit">${signOut.button}</button>
</form>
<p class="hint note">${signOut.connected}</p>`;
  return renderPage(frame, { name: signOut.heading, main });
}

export function signedOutPage(frame: Frame): string {
  const { signedOut } = frame.language.messages;
  const main = html`<h1>${signedOut.heading}</h1>
<p>${signedOut.text}</p>
<p class="hint note">${signedOut.connected}</p>`;
  return renderPage(frame, { name: signedOut.heading, main });
}
