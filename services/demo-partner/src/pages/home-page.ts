// The first page: what this is, or who is connected.
import type { Connection } from '../store/connections.ts';
import { html } from './html.ts';
import { buttonForm, layout, moment } from './layout.ts';
import type { Messages } from './messages.ts';

/** `reachable` says whether the provider's discovery answers. */
export function welcomePage(messages: Messages, reachable: boolean): string {
  const notice = reachable ? undefined : html`<p class="notice" role="status">${messages.notReachable}</p>`;
  return layout(
    messages,
    messages.welcome,
    html`<p>${messages.intro}</p>${notice}
<p class="actions"><a class="button" href="/connect">${messages.connect}</a></p>`,
  );
}

export function connectedPage(
  messages: Messages,
  connection: Connection,
  formToken: string,
  reachable: boolean,
): string {
  const name = connection.name ?? connection.email ?? messages.unnamed;
  const refreshed = connection.refreshedAt && new Date(connection.refreshedAt).toISOString();
  const notice = reachable ? undefined : html`<p class="notice" role="status">${messages.notReachable}</p>`;
  return layout(
    messages,
    `${messages.connectedAs} ${name}`,
    html`${notice}<section class="card">
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
