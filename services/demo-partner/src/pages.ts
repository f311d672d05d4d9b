// The pages, in the language of the browser. They show no protocol words, provider answers or codes; the reference on a
// failure page leads to the log.
import type { Connection } from './connections.ts';
import type { DesignSummary, EventSummary } from './design-api.ts';
import type { PartnerFailureCode } from './failure.ts';
import texts from './messages.json' with { type: 'json' };

export type Messages = typeof texts.en;

const languages: Readonly<Record<string, Messages>> = texts;

/** The best language that we have, else English. */
export function messagesFor(header: string | undefined): Messages {
  const wanted = (header ?? '')
    .split(',')
    .map((entry) => {
      const [tag = '', ...parameters] = entry.trim().toLowerCase().split(';');
      const weight = parameters.map((text) => /^\s*q=([\d.]+)$/.exec(text)?.[1]).find(Boolean) ?? '1';
      return { language: tag.split('-')[0] ?? '', weight: Number(weight) };
    })
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight);
  const found = wanted.find(({ language }) => Object.hasOwn(languages, language));
  return (found && languages[found.language]) ?? texts.en;
}

/** `reachable`: the provider's discovery answers. */
export function welcomePage(messages: Messages, reachable: boolean): string {
  const { welcome, intro, connect } = messages;
  const body = html`<p>${intro}</p>${reachableNotice(messages, reachable)}${linkButton(connect)}`;
  return layout(messages, welcome, body);
}

function reachableNotice({ notReachable }: Messages, reachable: boolean): Html | undefined {
  return reachable ? undefined : html`<p class="notice" role="status">${notReachable}</p>`;
}

function linkButton(label: string, href = '/connect'): Html {
  return html`<p class="actions"><a class="button" href="${href}">${label}</a></p>`;
}

export function connectedPage(
  messages: Messages,
  connection: Connection,
  formToken: string,
  reachable: boolean,
): string {
  const name = connection.name ?? connection.email ?? messages.unnamed;
  const refreshed = connection.refreshedAt && new Date(connection.refreshedAt).toISOString();
  return layout(
    messages,
    `${messages.connectedAs} ${name}`,
    html`${reachableNotice(messages, reachable)}<section class="card">
${connection.email ? html`<p>${connection.email}</p>` : undefined}
<p class="soft" id="refreshed">${
      refreshed ? html`${messages.refreshedAt} ${moment(messages, refreshed)}` : messages.neverRefreshed
    }</p>
<div class="actions"><a class="button" href="/events">${messages.showEvents}</a>
${buttonForm('/refresh', messages.refreshNow, formToken, 'plain')}</div>
</section>
<section class="card"><p>${messages.disconnectAbout}</p>
<div class="actions">${buttonForm('/disconnect', messages.disconnect, formToken, 'plain')}</div></section>`,
  );
}

export function eventsPage(messages: Messages, events: readonly EventSummary[]): string {
  const { eventsTitle, noEvents, noEventsAbout } = messages;
  const none = html`<div class="card"><h2>${noEvents}</h2><p class="soft">${noEventsAbout}</p></div>`;
  const items = events.map(
    (event) => html`<li class="card"><div class="row">
<h2><a href="/events/${encodeURIComponent(event.id)}/designs">${event.name || messages.unnamedEvent}</a></h2>
<span>${designCount(messages, event.designCount)}</span></div>
<div class="row soft small"><span>${period(messages, event)}</span>${lastChange(messages, event.updatedAt)}</div></li>`,
  );
  return layout(messages, eventsTitle, events.length === 0 ? none : html`<ul class="list">${items}</ul>`);
}

export function designsPage(
  messages: Messages,
  event: EventSummary,
  designs: readonly DesignSummary[],
): string {
  const back = html`<p><a href="/events">← ${messages.backToEvents}</a></p>`;
  const facts = html`<p class="soft">${period(messages, event)} · ${designCount(messages, event.designCount)}</p>`;
  // The API cuts at 500 (specification §8): only the event's count shows it.
  const note =
    event.designCount > designs.length
      ? html`<p class="notice">${messages.truncated.replace('{count}', event.designCount.toLocaleString(messages.locale))}</p>`
      : undefined;
  const list =
    designs.length === 0
      ? html`<div class="card"><h2>${messages.noDesigns}</h2></div>`
      : html`<ul class="list">${designs.map((design) => designItem(messages, design))}</ul>`;
  return layout(
    messages,
    event.name || messages.unnamedEvent,
    html`${back}${facts}${note}${list}<p class="soft small">${messages.summaryOnly}</p>`,
  );
}

function designItem(messages: Messages, design: DesignSummary): Html {
  return html`<li class="card"><div class="row"><h2>${design.title || messages.untitled}</h2>
<span class="soft small">${day(messages, design.eventDate) ?? messages.noDate}</span></div>
${design.shortDescr ? html`<p>${design.shortDescr}</p>` : undefined}
<div class="row soft small">${design.authorName ? html`<span>${messages.author} ${design.authorName}</span>` : undefined}
${lastChange(messages, design.updatedAt)}</div></li>`;
}

function period(messages: Messages, { startDate, endDate }: EventSummary): Html {
  const start = day(messages, startDate);
  const end = day(messages, endDate);
  if (start && end && startDate?.slice(0, 10) !== endDate?.slice(0, 10)) return html`${start} – ${end}`;
  return start ?? end ?? html`${messages.noDate}`;
}

function lastChange(messages: Messages, updatedAt: string | null): Html | undefined {
  const when = moment(messages, updatedAt);
  return when && html`<span>${messages.changed}: ${when}</span>`;
}

export function refusedPage(messages: Messages): string {
  const { refusedTitle, refusedText, connect } = messages;
  return layout(messages, refusedTitle, html`<p>${refusedText}</p>${linkButton(connect)}`);
}

export function disconnectedPage(messages: Messages): string {
  const { disconnectedTitle, disconnectedText, withdrawText, connectAgain } = messages;
  const body = html`<p>${disconnectedText}</p><p>${withdrawText}</p>${linkButton(connectAgain)}`;
  return layout(messages, disconnectedTitle, body);
}

/** `retry`: the local address of "Try again". */
export function failurePage(
  messages: Messages,
  code: PartnerFailureCode | 'internal',
  reference: string,
  retry: string,
): string {
  const m = messages;
  const connect = `/connect?to=${encodeURIComponent(retry)}`;
  const { title, text, label, href } = {
    connect_first: { title: m.firstTitle, text: m.firstText, label: m.connect, href: connect },
    reconnect: { title: m.reconnectTitle, text: m.reconnectText, label: m.connectAgain, href: connect },
    unavailable: { title: m.unavailableTitle, text: m.unavailableText, label: m.tryAgain, href: retry },
    not_found: { title: m.notFoundTitle, text: m.notFoundText, label: m.backToEvents, href: '/events' },
    connection_failed: { title: m.failedTitle, text: m.failedText, label: m.tryAgain, href: connect },
    internal: { title: m.errorTitle, text: m.errorText, label: m.tryAgain, href: retry },
  }[code];
  const small = html`<p class="soft small">${messages.reference}: <code>${reference}</code></p>`;
  return layout(messages, title, html`<p>${text}</p>${linkButton(label, href)}${small}`);
}

const markup = Symbol('markup');
interface Html {
  readonly [markup]: string;
}
type Part = Html | string | number | undefined | readonly Html[];

/** Template tag: escapes each value; `undefined` is nothing; arrays are joined. */
function html(strings: TemplateStringsArray, ...values: readonly Part[]): Html {
  const text = strings.map((string, index) => string + (index < values.length ? render(values[index]) : ''));
  return { [markup]: text.join('') };
}

function textOf(page: Html): string {
  return page[markup];
}

function render(value: Part): string {
  if (value === undefined) return '';
  if (typeof value === 'object') return 'map' in value ? value.map(textOf).join('') : textOf(value);
  return String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

function layout(messages: Messages, title: string, body: Html): string {
  const language = messages.locale.slice(0, 2);
  return `<!doctype html>${textOf(html`<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – ${messages.product}</title>
<link rel="stylesheet" href="/assets/style.css">
</head>
<body>
<a class="skip" href="#content">${messages.skip}</a>
<header>
<a class="brand" href="/">${messages.product}</a>
<nav><a href="/">${messages.home}</a><a href="/events">${messages.events}</a></nav>
</header>
<main id="content" tabindex="-1">
<h1>${title}</h1>
${body}
</main>
<footer>${messages.footer}</footer>
</body>
</html>`)}`;
}

/** A POST form with one button, bound to the session by `formToken`. */
function buttonForm(action: string, label: string, formToken: string, variant = ''): Html {
  return html`<form method="post" action="${action}">
<input type="hidden" name="form_token" value="${formToken}"><button class="button ${variant}">${label}</button></form>`;
}

const utcDay = { dateStyle: 'medium', timeZone: 'UTC' } as const;
const utcMoment = { ...utcDay, timeStyle: 'medium' } as const;

function day({ locale }: Messages, iso: string | null): Html | undefined {
  return format(iso, (date) => date.toLocaleDateString(locale, utcDay));
}

function moment({ locale }: Messages, iso: string | null): Html | undefined {
  return format(iso, (date) => `${date.toLocaleString(locale, utcMoment)} UTC`);
}

function format(iso: string | null, write: (date: Date) => string): Html | undefined {
  const date = new Date(iso ?? Number.NaN);
  if (Number.isNaN(date.getTime())) return undefined;
  return html`<time datetime="${date.toISOString()}">${write(date)}</time>`;
}

function designCount(messages: Messages, count: number): string {
  if (count === 1) return messages.designsOne;
  return messages.designsMany.replace('{count}', count.toLocaleString(messages.locale));
}
