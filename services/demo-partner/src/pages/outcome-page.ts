// Pages that say how something ended. They never show a protocol word, an answer of the provider or a code;
// the reference leads from the page to the log.
import type { PartnerFailureCode } from '../partner-failure.ts';
import { html } from './html.ts';
import { layout } from './layout.ts';
import type { Messages } from './messages.ts';

export function refusedPage(messages: Messages): string {
  return layout(
    messages,
    messages.refusedTitle,
    html`<p>${messages.refusedText}</p><p class="actions"><a class="button" href="/connect">${messages.connect}</a></p>`,
  );
}

export function disconnectedPage(messages: Messages): string {
  return layout(
    messages,
    messages.disconnectedTitle,
    html`<p>${messages.disconnectedText}</p><p>${messages.withdrawText}</p>
<p class="actions"><a class="button" href="/connect">${messages.connectAgain}</a></p>`,
  );
}

/** `retry` is the local address that Try again leads to. */
export function failurePage(
  messages: Messages,
  code: PartnerFailureCode | 'internal',
  reference: string,
  retry: string,
): string {
  const { title, text, label, href } = wording(messages, retry)[code];
  return layout(
    messages,
    title,
    html`<p>${text}</p><p class="actions"><a class="button" href="${href}">${label}</a></p>
<p class="soft small">${messages.reference}: <code>${reference}</code></p>`,
  );
}

interface Wording {
  readonly title: string;
  readonly text: string;
  readonly label: string;
  readonly href: string;
}

function wording(messages: Messages, retry: string): Record<PartnerFailureCode | 'internal', Wording> {
  const m = messages;
  const connect = `/connect?to=${encodeURIComponent(retry)}`;
  return {
    connect_first: { title: m.firstTitle, text: m.firstText, label: m.connect, href: connect },
    reconnect: { title: m.reconnectTitle, text: m.reconnectText, label: m.connectAgain, href: connect },
    unavailable: { title: m.unavailableTitle, text: m.unavailableText, label: m.tryAgain, href: retry },
    not_found: { title: m.notFoundTitle, text: m.notFoundText, label: m.backToEvents, href: '/events' },
    connection_failed: { title: m.failedTitle, text: m.failedText, label: m.tryAgain, href: connect },
    internal: { title: m.errorTitle, text: m.errorText, label: m.tryAgain, href: retry },
  };
}
