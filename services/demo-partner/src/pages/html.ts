// Markup that cannot be injected: every value put into the template is escaped, unless it is markup itself.

const markup = Symbol('markup');
export interface Html {
  readonly [markup]: string;
}
type Part = Html | string | number | undefined | readonly Html[];

/** Template tag: escapes each value; `undefined` is nothing; arrays are joined. */
export function html(strings: TemplateStringsArray, ...values: readonly Part[]): Html {
  const text = strings.map((string, index) => string + (index < values.length ? render(values[index]) : ''));
  return { [markup]: text.join('') };
}

export function textOf(page: Html): string {
  return page[markup];
}

function render(value: Part): string {
  if (value === undefined) return '';
  if (typeof value === 'object') return 'map' in value ? value.map(textOf).join('') : textOf(value);
  return String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
