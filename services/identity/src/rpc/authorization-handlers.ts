// AuthorizationService: translation only. A file beside this one turns outcomes into messages.
import type { AuthorizationService } from '@course-exchange/proto/identity/v1/authorization';
import type { Handlers } from '@course-exchange/runtime/rpc-server';
import { beginAuthorization } from '../authorization/begin-authorization.ts';
import type { AuthorizationDependencies } from '../authorization/dependencies.ts';
import { getInteraction } from '../authorization/get-interaction.ts';
import { endBrowserSession, getBrowserSession } from '../authorization/sign-out.ts';
import { submitAccountChoice } from '../authorization/submit-account-choice.ts';
import { cancelAuthorization, submitConsent } from '../authorization/submit-consent.ts';
import { submitLogin } from '../authorization/submit-login.ts';
import {
  readForm,
  readParameters,
  toBeginning,
  toDeadEnd,
  toLoginOutcome,
  toMove,
  toView,
} from './authorization-messages.ts';
import { readDecision } from './consent-decision.ts';

export function createAuthorizationHandlers(
  deps: AuthorizationDependencies,
): Handlers<typeof AuthorizationService> {
  return {
    beginAuthorization: async ({ parameters, repeatedParameters, browserSession }) => {
      const received = {
        parameters: readParameters(parameters),
        repeated: repeatedParameters,
        browserSession,
      };
      return { outcome: toBeginning(await beginAuthorization(deps, received)) };
    },
    getInteraction: async ({ interaction }) => ({
      view: toView(await getInteraction(deps, readForm(interaction))),
    }),
    submitLogin: async ({ interaction, email, password, forgetMe, clientAddress }) => {
      const form = { ...readForm(interaction), email, password, forgetMe, clientAddress };
      return { outcome: toLoginOutcome(await submitLogin(deps, form)) };
    },
    submitAccountChoice: async ({ interaction, useAnotherAccount }) => {
      const choice = await submitAccountChoice(deps, { ...readForm(interaction), useAnotherAccount });
      return { outcome: toMove(choice.move), sessionEnded: choice.sessionEnded };
    },
    submitConsent: async ({ interaction, decision }) => {
      const form = { ...readForm(interaction), decision: readDecision(decision) };
      return { outcome: toMove(await submitConsent(deps, form)) };
    },
    cancelAuthorization: async ({ interaction }) => ({
      outcome: toDeadEnd(await cancelAuthorization(deps, readForm(interaction))),
    }),
    getBrowserSession: async ({ browserSession }) => {
      const { account, formToken } = await getBrowserSession(deps, browserSession);
      return account ? { account, formToken } : { formToken };
    },
    endBrowserSession: async ({ browserSession, formToken }) => ({
      ended: await endBrowserSession(deps, browserSession, formToken),
    }),
  };
}
