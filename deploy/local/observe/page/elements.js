// Makes elements. What a service or a caller said becomes text and nothing else: there is no way to markup from here.

/** `content`: texts and elements; empty ones are left out. */
export function element(tag, attributes = {}, ...content) {
  return fill(document.createElement(tag), attributes, content);
}

export function drawing(tag, attributes = {}, ...content) {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, content);
}

function fill(made, attributes, content) {
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined && value !== false) made.setAttribute(name, String(value));
  made.append(...content.filter((part) => part !== undefined && part !== false && part !== '').map(asNode));
  return made;
}

function asNode(part) {
  return part instanceof Node ? part : document.createTextNode(String(part));
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
  return element('span', { class: `pill ${kind}` }, status || '···');
}
