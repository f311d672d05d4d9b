// Pages for what went wrong, without protocol words (R6, R14): what it is, what to do, what to quote.
import { type Frame, renderPage } from './frame.ts';
import { html } from './html.ts';
import { reference } from './parts.ts';

/** The transaction cannot go on: expired, used, or another browser's. */
export function expiredPage(frame: Frame): string {
  const { expired } = frame.language.messages;
  const main = html`<h1>${expired.heading}</h1>
<p>${expired.text}</p>
<p>${expired.next}</p>
${reference(frame)}`;
  return renderPage(frame, { name: expired.heading, main });
}

/** A store does not answer. `again` is where trying again begins; undefined when only going back helps. */
export function unavailablePage(frame: Frame, again: string | undefined): string {
  const { unavailable } = frame.language.messages;
  const main = html`<h1>${unavailable.heading}</h1>
<p>${unavailable.text}</p>
<p>${unavailable.next}</p>
${again !== undefined && html`<p><a class="secondary" href="${again}">${unavailable.again}</a></p>`}
${reference(frame)}`;
  return renderPage(frame, { name: unavailable.heading, main });
}
