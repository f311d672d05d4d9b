// What several tests expect of an answer.
import { expect } from 'vitest';
import type { Answer } from '../support/http.ts';
import type { Departure, Page } from '../support/user-agent.ts';

/** None may stand on a page for people (R6.4). */
export const protocolWords =
  /invalid_|redirect_uri|client_id|oauth|openid|nonce|access token|\bstate\b|\bscope/i;

/** The compact error body and nothing else (specification §7). */
export function expectError(answer: Answer, status: number, error: string, about = ''): void {
  expect(`${about} ${answer.status} ${answer.text}`).toBe(`${about} ${status} ${JSON.stringify({ error })}`);
  expect(answer.headers['content-type'], about).toMatch(/^application\/json(; ?charset=utf-8)?$/i);
}

export function expectErrorRedirect(outcome: Page | Departure, error: string): Departure {
  const departure = expectDeparture(outcome);
  expect(departure.parameters.get('error')).toBe(error);
  expect(departure.parameters.get('code')).toBeNull();
  return departure;
}

export function expectDeparture(outcome: Page | Departure, about = ''): Departure {
  if (outcome.kind === 'page') {
    throw new Error(
      `${about} a page instead of a redirect: ${outcome.answer.status} ${outcome.text.slice(0, 200)}`,
    );
  }
  expect(outcome.answer.status, about).toBe(303);
  return outcome;
}

export function expectPage(outcome: Page | Departure, status = 200): Page {
  if (outcome.kind === 'departure') throw new Error(`a redirect instead of a page: ${outcome.location}`);
  expect(outcome.answer.status, outcome.text.slice(0, 200)).toBe(status);
  expect(outcome.answer.headers['content-type']).toMatch(/^text\/html; ?charset=utf-8$/i);
  return outcome;
}
