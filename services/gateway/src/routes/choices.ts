// POST /account: continue, or use another account (R5, R29). POST /consent: allow or deny (R6). POST /cancel.
import { SubmitConsentRequest_Decision as Decision } from '@course-exchange/proto/identity/v1/authorization';
import type { Route } from '../http/route.ts';
import type { BrowserRouteDeps } from './browser.ts';
import { formRoute, outcomeAnswer } from './interaction.ts';

const decisions: ReadonlyMap<string, Decision> = new Map([
  ['allow', Decision.ALLOW],
  ['deny', Decision.DENY],
]);

export function choiceRoutes(deps: BrowserRouteDeps): readonly Route[] {
  const { authorization, cookies } = deps;
  return [
    formRoute(deps, '/account', async (at) => {
      const { outcome, sessionEnded } = await authorization.submitAccountChoice({
        interaction: at.interaction,
        useAnotherAccount: at.form.get('choice') === 'another',
      });
      return outcomeAnswer(at, outcome, sessionEnded ? [cookies.clearSession()] : []);
    }),
    formRoute(deps, '/consent', async (at) => {
      const decision = decisions.get(at.form.get('decision')) ?? Decision.UNSPECIFIED;
      const { outcome } = await authorization.submitConsent({ interaction: at.interaction, decision });
      return outcomeAnswer(at, outcome);
    }),
    formRoute(deps, '/cancel', async (at) => {
      const { outcome } = await authorization.cancelAuthorization({ interaction: at.interaction });
      return outcomeAnswer(at, outcome);
    }),
  ];
}
