// Parts that several pages share: who is signed in, the hidden fields of a form, what an error page says.
import type { AccountSummary } from '@course-exchange/proto/identity/v1/authorization';
import type { Frame } from './frame.ts';
import { type Html, html, nameOf } from './html.ts';
import type { Messages } from './messages/messages.ts';

/** What ties a form to its transaction and its browser. */
export interface FormBinding {
  readonly interactionId: string;
  readonly formToken: string;
}

/** The form's address names the transaction, so that reloading its answer leads back to it. */
export function formAddress(path: string, { interactionId }: FormBinding): string {
  return `${path}?interaction=${interactionId}`;
}

export function hiddenFields({ interactionId, formToken }: FormBinding): Html {
  return html`<input type="hidden" name="interaction" value="${interactionId}">
<input type="hidden" name="form_token" value="${formToken}">`;
}

export function signedInAs(messages: Messages, account: AccountSummary | undefined): Html {
  const { name = '', email = '' } = account ?? {};
  return html`<p class="account"><span class="hint">${messages.signedInAs}</span>
<strong>${nameOf(name || email)}</strong>${name !== '' && html` <span class="email">${nameOf(email)}</span>`}</p>`;
}

/** Who is signed in, with the way to another account beside it. */
export function signedInOrAnother(
  messages: Messages,
  account: AccountSummary | undefined,
  binding: FormBinding,
): Html {
  return html`<div class="who">${signedInAs(messages, account)}
<form method="post" action="${formAddress('/account', binding)}">
${hiddenFields(binding)}
<button class="link" type="submit" name="choice" value="another">${messages.anotherAccount}</button>
</form></div>`;
}

/** "Cancel": a form of its own, so that Enter in the login form never cancels. */
export function cancelForm(messages: Messages, partner: string, binding: FormBinding): Html {
  return html`<form class="cancel" method="post" action="${formAddress('/cancel', binding)}">
${hiddenFields(binding)}
<button class="quiet" type="submit">${messages.backTo(nameOf(partner))}</button>
</form>`;
}

/** What a person quotes to support; the footer links to it. */
export function reference({ language, reference }: Frame): Html {
  return html`<p class="reference hint">${language.messages.reference} <code>${reference}</code></p>`;
}
