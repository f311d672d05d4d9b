// The user's events, and the designs of one of them.
import type { DesignSummary, EventSummary } from '../design-summaries.ts';
import { type Html, html } from './html.ts';
import { day, designCount, layout, moment } from './layout.ts';
import type { Messages } from './messages.ts';

export function eventsPage(messages: Messages, events: readonly EventSummary[]): string {
  if (events.length === 0) {
    return layout(
      messages,
      messages.eventsTitle,
      html`<div class="card"><h2>${messages.noEvents}</h2><p class="soft">${messages.noEventsAbout}</p></div>`,
    );
  }
  const items = events.map(
    (event) => html`<li class="card"><div class="row">
<h2><a href="/events/${encodeURIComponent(event.id)}/designs">${event.name || messages.unnamedEvent}</a></h2>
<span>${designCount(messages, event.designCount)}</span></div>
<div class="row soft small"><span>${period(messages, event)}</span>${lastChange(messages, event.updatedAt)}</div></li>`,
  );
  return layout(messages, messages.eventsTitle, html`<ul class="list">${items}</ul>`);
}

export function designsPage(
  messages: Messages,
  event: EventSummary,
  designs: readonly DesignSummary[],
): string {
  const back = html`<p><a href="/events">← ${messages.backToEvents}</a></p>`;
  const facts = html`<p class="soft">${period(messages, event)} · ${designCount(messages, event.designCount)}</p>`;
  // The API cuts at 500 without saying so (specification §8): only the event's own count tells.
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
