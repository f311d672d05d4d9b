// One rehearsal around a piece of a test: it plays the scenario while the piece runs, and says what duty was broken.
import { type Breach, breachText, type Duty, duties } from './duties.ts';
import type { RehearsalProxy, Verdict } from './proxy.ts';
import { type ScenarioName, scenarios } from './scenarios.ts';

/** The client broke a duty. `breaches` has each time that it did. */
export class DutyBroken extends Error {
  readonly breaches: readonly Breach[];

  constructor(scenario: ScenarioName, breaches: readonly Breach[], options?: ErrorOptions) {
    super([`${scenario}: a duty was broken.`, ...breaches.map(breachText)].join('\n  '), options);
    this.name = 'DutyBroken';
    this.breaches = breaches;
  }
}

/**
 * Plays `scenario` while `work` runs. Rejects with DutyBroken if a duty was broken, with what `work` rejects with, and if
 * nothing came at which the scenario is played.
 */
export async function rehearse(
  proxy: RehearsalProxy,
  scenario: ScenarioName,
  work: () => unknown,
): Promise<void> {
  const end = proxy.rehearse(scenario);
  const failure = await Promise.resolve()
    .then(work)
    .then(
      () => undefined,
      (cause: unknown) => ({ cause }),
    );
  const { breaches, played } = await end();
  if (breaches.length > 0) throw new DutyBroken(scenario, breaches, failure);
  if (failure) throw failure.cause;
  if (!played) throw new Error(verdictText(scenario, { breaches, played }));
}

const named = (endpoint: string) =>
  ({ browser: 'callback', exchange: 'code exchange' })[endpoint] ?? endpoint;

/** For a terminal. */
export function verdictText(scenario: ScenarioName, { breaches, played }: Verdict): string {
  const { duty, play, on } = scenarios[scenario];
  if (breaches.length > 0) return new DutyBroken(scenario, breaches).message;
  if (!played) return `${scenario}: not played, since there was no ${on.map(named).join(' or ')}. ${play}`;
  const { sentence, isUnseen }: Duty = duties[duty];
  return `${scenario}: ${isUnseen ? 'played. No request shows its duty:' : 'kept.'} ${sentence}`;
}
