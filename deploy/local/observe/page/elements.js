// Makes elements. What a service or a caller said becomes text and nothing else: there is no way to markup from here.

/** `kind`: `tag.class`. `content`: attributes, texts and elements; empty ones are left out. */
export function element(kind, ...content) {
  const [tag, ...classes] = kind.split('.');
  return fill(document.createElement(tag), classes, content);
}

export function drawing(kind, ...content) {
  const [tag, ...classes] = kind.split('.');
  return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), classes, content);
}

function fill(made, classes, content) {
  made.classList.add(...classes);
  for (const part of content) {
    if (part instanceof Node) made.append(part);
    else if (typeof part === 'object') setAttributes(made, part);
    else if (part !== undefined && part !== false && part !== '') made.append(String(part));
  }
  return made;
}

function setAttributes(made, attributes) {
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined && value !== false) made.setAttribute(name, String(value));
}

export function duration(ms) {
  if (ms === undefined) return '…';
  if (ms >= 999.5) return `${(ms / 1000).toFixed(2)} s`;
  return `${ms.toFixed(ms < 1 ? 2 : ms < 99.5 ? 1 : 0)} ms`;
}

export function clock(time) {
  const date = new Date(time);
  return `${date.toLocaleTimeString('en-GB')}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}

const processes = ['gateway', 'identity', 'design-catalog'];

/** The class that gives a process its colour. */
export function colourOf(service) {
  return `process-${processes.includes(service) ? service : 'other'}`;
}

/** What an answer's status is to the service: its own fault, the caller's, or well. */
export function pill(status) {
  const kind = { 2: 'well', 3: 'well', 4: 'refused', 5: 'failed' }[status[0]] ?? 'open';
  return element(`span.pill.${kind}`, status || '···');
}
