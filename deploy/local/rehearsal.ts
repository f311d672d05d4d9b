// The option --rehearse: a proxy at the issuer's port plays one failure until the stack stops, and says what it saw.
import { breachText } from '@course-exchange/testcontainers/rehearsal/duties';
import { startRehearsalProxy } from '@course-exchange/testcontainers/rehearsal/proxy';
import { verdictText } from '@course-exchange/testcontainers/rehearsal/rehearse';
import { type ScenarioName, scenarios } from '@course-exchange/testcontainers/rehearsal/scenarios';
import type { StackPlan } from './plan.ts';

/** Resolves with what ends it, which says the verdict. */
export async function startRehearsal(
  { ports }: Pick<StackPlan, 'ports'>,
  { scenario, port }: { readonly scenario: ScenarioName; readonly port: number },
  say: (line: string) => void,
): Promise<() => Promise<void>> {
  const proxy = await startRehearsalProxy(() => `http://127.0.0.1:${ports.gateway}`, { port });
  const { play, expectation } = scenarios[scenario];
  say(`Rehearsing ${scenario}. ${play} ${expectation}`);
  const rehearsal = proxy.rehearse(scenario);
  rehearsal.onPlayed = () => say(`Rehearsal: ${scenario} was played.`);
  rehearsal.onBreach = (breach) => say(`Rehearsal: ${breachText(breach)}`);
  return async () => {
    say(`Rehearsal: ${verdictText(scenario, await rehearsal.end())}`);
    await proxy.stop();
  };
}
