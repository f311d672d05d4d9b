// HTML by tagged template: every value is escaped unless it is `Html`, which only this file makes.

export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Fragment = Html | string | number | undefined | false | readonly Fragment[];

export function html(strings: TemplateStringsArray, ...values: readonly Fragment[]): Html {
  return new Html(strings.reduce((text, part, index) => text + print(values[index - 1]) + part));
}

function print(value: Fragment): string {
  if (value === undefined || value === false) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'string') return escaped(value);
  if (typeof value === 'number') return String(value);
  return value.map(print).join('');
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '');
}

/** An external name, isolated: its writing direction cannot reorder our sentence. */
export function nameOf(text: string): Html {
  return html`<bdi>${text}</bdi>`;
}
