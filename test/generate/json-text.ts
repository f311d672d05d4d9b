// JSON of generated files.

/** JSON in which whatever fits into a line stands in one, as the formatter would have it. */
export function jsonText(value: unknown, indent = '', used = indent.length): string {
  const short = oneLine(value);
  if (used + short.length <= 109 || typeof value !== 'object' || value === null) return short;
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    const items = value.map((item) => `${inner}${jsonText(item, inner)}`);
    return `[\n${items.join(',\n')}\n${indent}]`;
  }
  const members = Object.entries(value).map(([key, member]) => {
    const name = `${inner}${JSON.stringify(key)}: `;
    return `${name}${jsonText(member, inner, name.length)}`;
  });
  return `{\n${members.join(',\n')}\n${indent}}`;
}

function oneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(oneLine).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}: ${oneLine(member)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}
