// pages/ is what people see, as HTML without script: forms and errors, in the languages of messages/. Which page is shown is decided
// by identity; routes/ fetches its data.

// The layout of every page and the parts that pages share.
import type { AccountSummary, AccountView } from '@course-exchange/proto/identity/v1/authorization';
import { stylesheetPath } from '../stylesheet.ts';
import { type Html, html, nameOf } from './html.ts';
import type { Messages } from './messages/en.ts';
import type { Language } from './messages/language.ts';

type LinkName = 'passwordReset' | 'privacy' | 'imprint' | 'support';
export type Links = Readonly<Record<LinkName, string | undefined>>;

export interface PageLayout {
  readonly language: Language;
  readonly links: Links;
  readonly reference: string;
}

export interface PageParts {
  readonly name: string;
  readonly partner?: string;
  readonly main: Html;
  readonly wide?: boolean;
}

export function renderPage(
  { language, links }: PageLayout,
  { name, partner, main, wide }: PageParts,
): string {
  const { messages, tag } = language;
  return html`<!doctype html>
<html lang="${tag}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${messages.title(name, partner)}</title>
<link rel="stylesheet" href="${stylesheetPath}">
</head>
<body${wide && html` class="wide"`}>
<header class="masthead">${mark}<span>${messages.serviceName}</span></header>
<main class="sheet">
${main}
</main>
${footer(language, links)}
</body>
</html>
`.text;
}

const mark = html`<svg class="mark" viewBox="0 0 28 24" width="28" height="24" aria-hidden="true" focusable="false"><path d="M3 3v19M25 3v19M3 8h22M3 13h22M3 18h22" fill="none" stroke="currentColor" stroke-width="2.4" stroke-linecap="round"/></svg>`;

function footer({ messages }: Language, links: Links): Html | undefined {
  const { label, privacy, imprint, support } = messages.links;
  const items = [
    { text: privacy, href: links.privacy },
    { text: imprint, href: links.imprint },
    { text: support, href: links.support },
  ].flatMap(({ text, href }) => (href ? [html`<li><a href="${href}">${text}</a></li>`] : []));
  if (items.length === 0) return undefined;
  return html`<footer><nav aria-label="${label}"><ul class="links">${items}</ul></nav></footer>`;
}

export interface InteractionFields {
  readonly interactionId: string;
  readonly formToken: string;
  /** Empty after the login. */
  readonly sealedInteraction: string;
  readonly partner: string;
}

/** The address of a stored interaction makes reloading safe. */
export function form(path: string, fields: InteractionFields, inside: Html, look = ''): Html {
  const { interactionId, formToken, sealedInteraction } = fields;
  const address = sealedInteraction === '' ? `${path}?interaction=${interactionId}` : path;
  return html`<form class="${look}" method="post" action="${address}" novalidate>
<input type="hidden" name="interaction" value="${interactionId}">
<input type="hidden" name="form_token" value="${formToken}">
${sealedInteraction && html`<input type="hidden" name="sealed_interaction" value="${sealedInteraction}">`}
${inside}
</form>`;
}

export function choice(name: string, value: string, look: string, text: Html | string): Html {
  return html`<button class="${look}" type="submit" name="${name}" value="${value}">${text}</button>`;
}

export function signedInAs(messages: Messages, account: AccountSummary | undefined): Html {
  const { name = '', email = '' } = account ?? {};
  return html`<p class="account"><span class="hint">${messages.signedInAs}</span>
<strong>${nameOf(name || email)}</strong>${name !== '' && html` <span class="email">${nameOf(email)}</span>`}</p>`;
}

export function signedInOrAnother(
  messages: Messages,
  content: InteractionFields & Pick<AccountView, 'account'>,
): Html {
  const another = choice('choice', 'another', 'link', messages.anotherAccount);
  return html`<div class="who">${signedInAs(messages, content.account)}
${form('/account', content, another)}</div>`;
}

/** A separate form, so that Enter in the login form never cancels. */
export function cancelForm(messages: Messages, fields: InteractionFields): Html {
  const back = html`<button class="quiet" type="submit">${messages.backTo(nameOf(fields.partner))}</button>`;
  return form('/cancel', fields, back, 'cancel');
}
