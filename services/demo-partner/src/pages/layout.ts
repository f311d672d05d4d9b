// The frame around every page, and the ways in which pages write dates and counts.
import { type Html, html, textOf } from './html.ts';
import type { Messages } from './messages.ts';

/** A whole document with `title` as its heading. */
export function layout(messages: Messages, title: string, body: Html): string {
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

/** A POST form that is one button, bound to the session by `formToken`. */
export function buttonForm(action: string, label: string, formToken: string, look = ''): Html {
  return html`<form method="post" action="${action}">
<input type="hidden" name="form_token" value="${formToken}"><button class="button ${look}">${label}</button></form>`;
}

/** A date of the API as people write it, in UTC; an unreadable one is treated as absent. */
export function day(messages: Messages, iso: string | null): Html | undefined {
  return format(iso, (date) =>
    date.toLocaleDateString(messages.locale, { dateStyle: 'medium', timeZone: 'UTC' }),
  );
}

export function moment(messages: Messages, iso: string | null): Html | undefined {
  return format(iso, (date) => {
    const text = date.toLocaleString(messages.locale, {
      dateStyle: 'medium',
      timeStyle: 'medium',
      timeZone: 'UTC',
    });
    return `${text} UTC`;
  });
}

function format(iso: string | null, write: (date: Date) => string): Html | undefined {
  const date = new Date(iso ?? Number.NaN);
  if (Number.isNaN(date.getTime())) return undefined;
  return html`<time datetime="${date.toISOString()}">${write(date)}</time>`;
}

export function designCount(messages: Messages, count: number): string {
  if (count === 1) return messages.designsOne;
  return messages.designsMany.replace('{count}', count.toLocaleString(messages.locale));
}
