// The users and partners that single tests need. A deployment may name fewer than the demo data do: then the test
// that asks is skipped, so that its clauses count as not proven.
import { TestRunner } from 'vitest';
import * as stackFile from '../support/stack-file.ts';
import { full, stack } from './deployment.ts';

type Partner = stackFile.Partner;

/** What `find` gives; the running test is skipped where the stack file names nothing of the kind. */
function orSkip<Found>(find: () => Found): Found {
  try {
    return find();
  } catch (error) {
    if (error instanceof stackFile.NotGiven) TestRunner.getCurrentTest()?.context.skip(error.message);
    throw error;
  }
}

/** Those that are `found`, at least one, so that no test passes over nothing. */
export function orNone<Item>(found: readonly Item[], what: string): readonly [Item, ...Item[]] {
  return orSkip(() => {
    if (found.length === 0) throw new stackFile.NotGiven(`The stack file names no ${what}.`);
    return found as readonly [Item, ...Item[]];
  });
}

/** The user whose `about` holds these words. */
export function userWho(about: string): stackFile.DemoUser {
  return orSkip(() => stackFile.userWho(stack, about));
}

export function partnerFor(...scopes: readonly string[]): Partner {
  return orSkip(() => stackFile.partnerFor(stack, ...scopes));
}

/** Another active partner. */
export function otherPartner(): Partner {
  return orNone(
    stack.partners.filter(({ active, clientId }) => active && clientId !== full.clientId),
    'second active partner',
  )[0];
}

/** Another active partner with the rights of `full`, to try its tokens. */
export function twinPartner(): Partner {
  const twins = stackFile.partnersFor(stack, ...full.scopes);
  return orNone(
    twins.filter(({ clientId }) => clientId !== full.clientId),
    'second active partner with the same scopes',
  )[0];
}

export function inactivePartner(): Partner {
  return orNone(
    stack.partners.filter(({ active }) => !active),
    'inactive partner',
  )[0];
}
