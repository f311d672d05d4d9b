// The consent page tells the truth about what is released: with `openid` also name and e-mail, whatever the other
// scopes (R6.8); without it nothing (R6.9).
import type { ConsentView } from '@course-exchange/proto/identity/v1/authorization';
import { type Html, html, nameOf } from './html.ts';
import {
  formAddress,
  hiddenFields,
  type InteractionFields,
  type PageLayout,
  renderPage,
  signedInOrAnother,
} from './layout.ts';
import type { Messages } from './messages/en.ts';

export interface ConsentContent extends InteractionFields, Pick<ConsentView, 'account'> {
  readonly scopes: readonly string[];
  readonly scopesGrantedBefore: readonly string[];
}

export function consentPage(layout: PageLayout, content: ConsentContent): string {
  const { messages } = layout.language;
  const { consent } = messages;
  const partner = nameOf(content.partner);
  const opens = content.scopes.includes('openid');
  const heading = opens ? consent.heading : consent.headingNothing;
  const name = opens ? consent.title : consent.titleNothing;
  const never = opens ? consent.neverList : [consent.neverOpened, ...consent.neverList];
  const main = html`<h1>${heading(partner)}</h1>
${signedInOrAnother(messages, content)}
${askedInAddition(layout, content)}
<div class="columns">
<section>
<h2>${consent.shared(partner)}</h2>
${opens ? released(consent, partner) : html`<p>${consent.nothing(partner)}</p>`}
</section>
${neverShared(consent.never(partner), never)}
</div>
<h2>${consent.until}</h2>
${howItEnds(layout, partner, opens)}
<form class="decision" method="post" action="${formAddress('/consent', content)}">
${hiddenFields(content)}
<button class="primary" type="submit" name="decision" value="allow">${consent.allow}</button>
<button class="secondary" type="submit" name="decision" value="deny">${consent.deny}</button>
</form>`;
  return renderPage(layout, { name, partner: content.partner, main, wide: true });
}

function released(consent: Messages['consent'], partner: Html): Html {
  return html`<ul class="shared">
<li>${consent.events}</li><li>${consent.designs}</li>
<li>${consent.name}</li><li>${consent.email}</li><li>${consent.identifier(partner)}</li>
</ul>
<p class="hint">${consent.whatever}</p>`;
}

/**
 * Twice: in full, and folded for a phone, so that the buttons are near. The stylesheet shows one: without script a
 * width cannot open a `details`.
 */
function neverShared(heading: Html, items: readonly string[]): Html {
  const list = html`<ul class="never">${items.map((item) => html`<li>${item}</li>`)}</ul>`;
  return html`<section class="unfolded"><h2>${heading}</h2>${list}</section>
<details class="folded"><summary><h2>${heading}</h2></summary>${list}</details>`;
}

/** Only `openid` releases more than before (R6). */
function askedInAddition({ language }: PageLayout, content: ConsentContent): Html | undefined {
  if (content.scopesGrantedBefore.length === 0) return undefined;
  const { consent } = language.messages;
  const fresh = content.scopes.filter((scope) => !content.scopesGrantedBefore.includes(scope));
  const words = fresh.flatMap((scope) => (isScope(scope) ? [consent.scopes[scope]] : []));
  if (words.length === 0) return undefined;
  const list = new Intl.ListFormat(language.tag, { type: 'conjunction' }).format(words);
  return html`<p class="notice">${consent.more(nameOf(content.partner), list)}
${!fresh.includes('openid') && consent.moreOfTheSame}</p>`;
}

function isScope(scope: string): scope is keyof Messages['consent']['scopes'] {
  return scope === 'openid' || scope === 'email' || scope === 'profile';
}

/** Disconnecting at the partner withdraws nothing: the consent is remembered (R6). */
function howItEnds({ language, links }: PageLayout, partner: Html, opens: boolean): Html {
  const { consent } = language.messages;
  const contact = links.support
    ? html`<a href="${links.support}">${consent.support}</a>`
    : html`${consent.operator}`;
  return html`<p>${consent.untilText(partner)}</p>
<p>${consent.withdraw(contact)} ${opens && consent.after(partner)}</p>
<p>${consent.disconnect(partner)}</p>`;
}
