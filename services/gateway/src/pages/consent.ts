// The consent page states what is released: with `openid` also name and e-mail (R6.8), without it nothing (R6.9).
import type { ConsentView } from '@course-exchange/proto/identity/v1/authorization';
import { type Html, html, nameOf } from './html.ts';
import {
  choice,
  form,
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
  const decision = html`${choice('decision', 'allow', 'primary', consent.allow)}
${choice('decision', 'deny', 'secondary', consent.deny)}`;
  const main = html`<h1>${heading(partner)}</h1>
${signedInOrAnother(messages, content)}
${askedInAddition(layout, content)}
<div class="columns">
<section>
<h2>${consent.shared(partner)}</h2>
${opens ? released(consent, partner) : html`<p>${consent.nothing(partner)}</p>`}
</section>
${neverShared(consent, partner, opens)}
</div>
<h2>${consent.until}</h2>
${howItEnds(layout, partner, opens)}
${form('/consent', content, decision, 'decision')}`;
  return renderPage(layout, { name, partner: content.partner, main, wide: true });
}

function released(consent: Messages['consent'], partner: Html): Html {
  return html`<ul class="shared">
<li>${consent.events}</li><li>${consent.designs}</li>
<li>${consent.name}</li><li>${consent.email}</li><li>${consent.identifier(partner)}</li>
</ul>
<p class="hint">${consent.whatever}</p>`;
}

/** Four items are visible, to keep the buttons near. */
function neverShared(consent: Messages['consent'], partner: Html, opens: boolean): Html {
  const items = opens ? consent.neverList : [consent.neverOpened, ...consent.neverList];
  const list = (some: readonly string[]) =>
    html`<ul class="never">${some.map((item) => html`<li>${item}</li>`)}</ul>`;
  return html`<section><h2>${consent.never(partner)}</h2>${list(items.slice(0, 4))}
<details><summary>${consent.neverMore}</summary>${list(items.slice(4))}</details></section>`;
}

/** Only `openid` releases more than before (R6.8, R6.9). */
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

/** Disconnecting at the partner does not withdraw the consent (R6.1). */
function howItEnds({ language, links }: PageLayout, partner: Html, opens: boolean): Html {
  const { consent } = language.messages;
  const contact = links.support
    ? html`<a href="${links.support}">${consent.support}</a>`
    : html`${consent.operator}`;
  return html`<p>${consent.untilText(partner)}</p>
<p>${consent.withdraw(contact)} ${opens && consent.after(partner)}</p>
<p>${consent.disconnect(partner)}</p>`;
}
