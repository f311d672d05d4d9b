// Reads the forms of a page by their structure: action, hidden inputs, fields, buttons. No ids of ours.

type Field = {
  readonly name: string;
  readonly type: string;
  readonly value: string;
  readonly checked: boolean;
};

export type Form = {
  readonly action: string;
  readonly method: string;
  readonly fields: readonly Field[];
  readonly buttons: readonly Field[];
};

/** Every form of the page, in its order. */
export function formsOf(html: string): readonly Form[] {
  return [...html.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gis)].map(([, attributes = '', content = '']) => {
    const { action = '', method = 'get' } = attributesOf(attributes);
    const inputs = [...content.matchAll(/<input\b([^>]*)>/gi)].map((match) => fieldOf(match[1] ?? ''));
    const buttons = [...content.matchAll(/<button\b([^>]*)>/gi)].map((match) =>
      fieldOf(match[1] ?? '', 'submit'),
    );
    return {
      action,
      method: method.toLowerCase(),
      fields: inputs.filter((input) => input.type !== 'submit'),
      buttons: [...inputs.filter((input) => input.type === 'submit'), ...buttons],
    };
  });
}

/** Text with its character references resolved. */
function unescapeHtml(text: string): string {
  const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' };
  return text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (whole, hex, decimal, name) => {
    if (hex) return String.fromCodePoint(Number.parseInt(hex, 16));
    if (decimal) return String.fromCodePoint(Number(decimal));
    return named[name as string] ?? whole;
  });
}

/** What a person reads: tags, styles and scripts left out. */
export function visibleText(html: string): string {
  const body = html.replace(/<(style|script|head)\b.*?<\/\1>/gis, ' ').replace(/<[^>]+>/g, ' ');
  return unescapeHtml(body).replace(/\s+/g, ' ').trim();
}

function fieldOf(attributes: string, type = 'text'): Field {
  const found = attributesOf(attributes);
  return {
    name: found.name ?? '',
    type: (found.type ?? type).toLowerCase(),
    value: found.value ?? (found.type === 'checkbox' ? 'on' : ''),
    checked: 'checked' in found,
  };
}

function attributesOf(text: string): Record<string, string> {
  const pairs = text.matchAll(/([^\s=/"'>]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g);
  return Object.fromEntries(
    [...pairs].map(([, name = '', double, single, bare]) => [
      name.toLowerCase(),
      unescapeHtml(double ?? single ?? bare ?? ''),
    ]),
  );
}
