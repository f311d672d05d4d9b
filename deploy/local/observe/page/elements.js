// What all parts of the page show alike: durations, times and statuses. lit-html makes the elements: what a service or a
// caller said becomes text and nothing else.
import { html } from '../../node_modules/lit-html/lit-html.js';

export const find = (id) => document.getElementById(id);

export function duration(ms) {
  if (ms === undefined) return '…';
  if (ms >= 999.5) return `${(ms / 1000).toFixed(2)} s`;
  return `${ms.toFixed(ms < 1 ? 2 : ms < 99.5 ? 1 : 0)} ms`;
}

export function clock(time) {
  const date = new Date(time);
  return `${date.toLocaleTimeString('en-GB')}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}

/** What an answer's status is to the service: its own fault, the caller's, or well. */
export function pill(status) {
  const kind = { 2: 'well', 3: 'well', 4: 'refused', 5: 'failed' }[status[0]] ?? 'open';
  return html`<span class="pill ${kind}">${status || '···'}</span>`;
}
