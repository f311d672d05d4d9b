// The consent page: who asks, what is shared and what never is, for how long, how to withdraw. It tells the
// truth about what is released: name and e-mail are, whatever the scopes (R6).
import type { AccountSummary } from '@course-exchange/proto/identity/v1/authorization';
import { type Frame, renderPage } from './frame.ts';
import { type Html, html, nameOf } from './html.ts';
import type { Messages } from './messages/messages.ts';
import { type FormBinding, formAddress, hiddenFields, signedInOrAnother } from './parts.ts';

export interface ConsentContent extends FormBinding {
  readonly partner: string;
  readonly account: AccountSummary | undefined;
  readonly scopes: readonly string[];
  readonly scopesGrantedBefore: readonly string[];
}

export function consentPage(frame: Frame, content: ConsentContent): string {
  const { messages } = frame.language;
  const { consent } = messages;
  const partner = nameOf(content.partner);
  const readsDesigns = content.scopes.includes('openid');
  const heading = readsDesigns ? consent.heading : consent.headingIdentity;
  const main = html`<h1>${heading(partner)}</h1>
${signedInOrAnother(messages, content.account, content)}
${askedInAddition(frame, content)}
<div class="columns">
<section>
<h2>${consent.shared(partner)}</h2>
<ul class="shared">
${readsDesigns && html`<li>${consent.events}</li><li>${consent.designs}</li>`}
<li>${consent.name}</li><li>${consent.email}</li><li>${consent.identifier(partner)}</li>
</ul>
<p class="hint">${consent.whatever}</p>
</section>
<section>
<h2>${consent.never(partner)}</h2>
<ul class="never">${neverShared(messages, readsDesigns).map((item) => html`<li>${item}</li>`)}</ul>
</section>
</div>
<h2>${consent.until}</h2>
${howItEnds(frame, partner, readsDesigns)}
${decisionForm(messages, content)}`;
  return renderPage(frame, {
    name: plainHeading(messages, readsDesigns),
    partner: content.partner,
    main,
    wide: true,
  });
}

/** Only `openid` releases more than before: name and e-mail are part of every connection (R6). */
function askedInAddition({ language }: Frame, content: ConsentContent): Html | undefined {
  if (content.scopesGrantedBefore.length === 0) return undefined;
  const { consent } = language.messages;
  const fresh = content.scopes.filter((scope) => !content.scopesGrantedBefore.includes(scope));
  const words = fresh.flatMap((scope) => (isScope(scope) ? [consent.scopes[scope]] : []));
  if (words.length === 0) return undefined;
  const list = new Intl.ListFormat(language.tag, { type: 'conjunction' }).format(words);
  return html`<p class="notice">${consent.more(nameOf(content.partner), list)}
${!fresh.includes('openid') && consent.moreOfTheSame}</p>`;
}

function neverShared({ consent }: Messages, readsDesigns: boolean): readonly string[] {
  return readsDesigns ? consent.neverList : [consent.neverDesigns, ...consent.neverList];
}

function isScope(scope: string): scope is keyof Messages['consent']['scopes'] {
  return scope === 'openid' || scope === 'email' || scope === 'profile';
}

/** Disconnecting at the partner withdraws nothing: the consent is remembered (R6). */
function howItEnds({ language, links }: Frame, partner: Html, readsDesigns: boolean): Html {
  const { consent } = language.messages;
  const contact = links.support
    ? html`<a href="${links.support}">${consent.support}</a>`
    : html`${consent.operator}`;
  const after = readsDesigns ? consent.after : consent.afterIdentity;
  return html`<p>${consent.untilText(partner)}</p>
<p>${consent.withdraw(contact)} ${after(partner)}</p>
<p>${consent.disconnect(partner)}</p>`;
}

function decisionForm(messages: Messages, content: ConsentContent): Html {
  const { consent } = messages;
  return html`<form class="decision" method="post" action="${formAddress('/consent', content)}">
${hiddenFields(content)}
<button class="primary" type="submit" name="decision" value="allow">${consent.allow}</button>
<button class="secondary" type="submit" name="decision" value="deny">${consent.deny}</button>
</form>`;
}

function plainHeading({ consent }: Messages, readsDesigns: boolean): string {
  return readsDesigns ? consent.title : consent.titleIdentity;
}
