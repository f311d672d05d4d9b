// POST /consent: the user's decision (R6).
import { SubmitConsentRequest_Decision as Decision } from '@course-exchange/proto/identity/v1/authorization';
import { redirectAnswer } from '../answer.ts';
import type { Route } from './route.ts';
import {
  expiredAnswer,
  explainUnavailable,
  interactionAddress,
  interactionIdOf,
  interactionRef,
  pageAddress,
  readForm,
  type Site,
} from './site.ts';

const decisions: ReadonlyMap<string, Decision> = new Map(
  Object.entries({
    allow: Decision.ALLOW,
    deny: Decision.DENY,
  }),
);

export function postConsent(site: Site): Route {
  return {
    method: 'POST',
    path: '/consent',
    surface: 'page',
    answer: async (request) => {
      const form = await readForm(request);
      const { outcome } = await site.authorization.submitConsent({
        interaction: interactionRef(site, request, form),
        decision: decisions.get(form.get('decision')) ?? Decision.UNSPECIFIED,
      });
      switch (outcome.case) {
        case 'redirect':
        case 'foreign':
          return redirectAnswer(outcome.value.location);
        case 'next':
          return redirectAnswer(pageAddress('/login', interactionIdOf(form)));
        default:
          return expiredAnswer(site, request);
      }
    },
    explain: explainUnavailable(site, interactionAddress),
  };
}
