// What several tests expect of an answer.
import { expect } from 'vitest';
import type { Answer } from '../support/http.ts';
import type { Departure, Page } from '../support/user-agent.ts';

/** The compact error body and nothing else (specification §7). */
export function expectError(answer: Answer, status: number, error: string, about = ''): void {
  expect(`${about} ${answer.status} ${answer.text}`).toBe(`${about} ${status} ${JSON.stringify({ error })}`);
  expect(answer.headers['content-type'], about).toMatch(/^application\/json(; ?charset=utf-8)?$/i);
}

/**
 * Sends what `prepare` gives fifty times at once: one answer is 200, each other 400 `invalid_grant`, none a 5xx. A race in
 * which a busy machine had no time for some (R14) may have no winner; of three, one must go without. Gives the winner's answer.
 */
export async function raceOfFifty(prepare: () => Promise<() => Promise<Answer>>): Promise<Answer> {
  for (let races = 1; ; races += 1) {
    const answers = await Promise.all(Array.from({ length: 50 }, await prepare()));
    const [winner, ...others] = answers.filter(({ status }) => status === 200);
    expect(others).toEqual([]);
    const lost = answers.filter(({ status }) => status !== 200);
    const isDisturbed = lost.some(({ status }) => status === 503) && races < 3;
    for (const answer of lost)
      if (!isDisturbed || answer.status !== 503) expectError(answer, 400, 'invalid_grant');
    if (!isDisturbed) return winner ?? expect.fail('nobody won');
  }
}

/** A redirect to the partner with this error. */
export function expectErrorRedirect(outcome: Page | Departure, error: string, about = ''): Departure {
  const departure = expectDeparture(outcome, about);
  expect(departure.parameters.get('error'), about).toBe(error);
  expect(departure.parameters.get('code'), about).toBeNull();
  return departure;
}

/** A redirect to the partner, by 303. */
export function expectDeparture(outcome: Page | Departure, about = ''): Departure {
  if (outcome.kind === 'page') {
    throw new Error(
      `${about} a page instead of a redirect: ${outcome.answer.status} ${outcome.text.slice(0, 200)}`,
    );
  }
  expect(outcome.answer.status, about).toBe(303);
  return outcome;
}

/** A page of the issuer. */
export function expectPage(outcome: Page | Departure, status = 200): Page {
  if (outcome.kind === 'departure') throw new Error(`a redirect instead of a page: ${outcome.location}`);
  expect(outcome.answer.status, outcome.text.slice(0, 200)).toBe(status);
  expect(outcome.answer.headers['content-type']).toMatch(/^text\/html; ?charset=utf-8$/i);
  return outcome;
}
