// The frame of every page: head, masthead, main, footer. What a page is made with comes as one value.
import { Html, html } from './html.ts';
import type { Language } from './messages/languages.ts';
import { stylesheetPath } from './stylesheet.ts';

/** Links of the operator's, each optional. */
export interface Links {
  readonly passwordReset: string | undefined;
  readonly privacy: string | undefined;
  readonly imprint: string | undefined;
  readonly support: string | undefined;
}

/** What every page is made with. */
export interface Frame {
  readonly language: Language;
  readonly links: Links;
  /** The request id: what a person quotes to support. */
  readonly reference: string;
}

export interface PageParts {
  /** Names the page in the browser's tab. */
  readonly name: string;
  readonly partner?: string;
  readonly main: Html;
  /** Two columns where there is room for them. */
  readonly wide?: boolean;
}

const doctype = new Html('<!doctype html>\n');

export function renderPage({ language, links }: Frame, { name, partner, main, wide }: PageParts): string {
  const { messages, tag } = language;
  return html`${doctype}<html lang="${tag}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${messages.title(name, partner && isolated(partner))}</title>
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

/** A rail between two uprights. Decoration: the name stands beside it. */
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

/** A title holds no markup: the direction of a name is isolated by characters instead. */
function isolated(name: string): string {
  return `\u2068${name}\u2069`;
}
