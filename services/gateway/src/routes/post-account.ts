// POST /account: go on as the signed-in user, or log in as another (R5, R29).
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

export function postAccount(site: Site): Route {
  return {
    method: 'POST',
    path: '/account',
    surface: 'page',
    answer: async (request) => {
      const form = await readForm(request);
      const { outcome, sessionEnded } = await site.authorization.submitAccountChoice({
        interaction: interactionRef(site, request, form),
        useAnotherAccount: form.get('choice') === 'another',
      });
      const cookies = sessionEnded ? [site.cookies.clearSession()] : [];
      switch (outcome.case) {
        case 'next':
          return redirectAnswer(pageAddress('/consent', interactionIdOf(form)), cookies);
        case 'redirect':
        case 'foreign':
          return redirectAnswer(outcome.value.location, cookies);
        default:
          return expiredAnswer(site, request);
      }
    },
    explain: explainUnavailable(site, interactionAddress),
  };
}
