// "Continue with this account?": who is signed in, and the way to another account.
import type { AccountSummary } from '@course-exchange/proto/identity/v1/authorization';
import { type Frame, renderPage } from './frame.ts';
import { html, nameOf } from './html.ts';
import { cancelForm, type FormBinding, formAddress, hiddenFields, signedInAs } from './parts.ts';

export interface AccountContent extends FormBinding {
  readonly partner: string;
  readonly account: AccountSummary | undefined;
}

export function accountPage(frame: Frame, content: AccountContent): string {
  const { messages } = frame.language;
  const { account } = messages;
  const who = content.account?.name || content.account?.email || '';
  const main = html`<h1>${account.heading}</h1>
<p>${account.intro(nameOf(content.partner))}</p>
${signedInAs(messages, content.account)}
<form method="post" action="${formAddress('/account', content)}">
${hiddenFields(content)}
<button class="primary" type="submit" name="choice" value="continue">${account.proceed(nameOf(who))}</button>
<button class="secondary" type="submit" name="choice" value="another">${messages.anotherAccount}</button>
</form>
${cancelForm(messages, content.partner, content)}`;
  return renderPage(frame, { name: account.heading, partner: content.partner, main });
}
