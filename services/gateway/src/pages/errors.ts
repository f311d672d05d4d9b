// Error pages, without protocol words (R6.4, R6.14, R14.4).
import { type Html, html } from './html.ts';
import { type PageLayout, renderPage } from './layout.ts';

/** The interaction cannot continue: expired, used, or started in another browser. */
export function expiredPage(layout: PageLayout): string {
  return errorPage(layout, layout.language.messages.expired);
}

/** Nobody can log in without cookies (R6.14). */
export function noCookiesPage(layout: PageLayout): string {
  return errorPage(layout, layout.language.messages.noCookies);
}

/** Nothing begins at the address of this service alone. */
export function startPage(layout: PageLayout): string {
  return errorPage(layout, layout.language.messages.start);
}

/** `again`: where to try again; undefined when only going back helps. */
export function unavailablePage(layout: PageLayout, again: string | undefined): string {
  const { unavailable } = layout.language.messages;
  const link = html`<p><a class="secondary" href="${again}">${unavailable.again}</a></p>`;
  return errorPage(layout, unavailable, again === undefined ? undefined : link);
}

type Texts = Readonly<Record<'heading' | 'text' | 'next', string>>;

function errorPage(layout: PageLayout, { heading, text, next }: Texts, link?: Html): string {
  const main = html`<h1>${heading}</h1>
<p>${text}</p>
<p>${next}</p>
${link}
<p class="reference hint">${layout.language.messages.reference} <code>${layout.reference}</code></p>`;
  return renderPage(layout, { name: heading, main });
}
