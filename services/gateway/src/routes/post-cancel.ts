// POST /cancel: ends the transaction on the user's wish before consent: back to the partner.
import { redirectAnswer } from '../answer.ts';
import type { Route } from './route.ts';
import {
  expiredAnswer,
  explainUnavailable,
  interactionAddress,
  interactionRef,
  readForm,
  type Site,
} from './site.ts';

export function postCancel(site: Site): Route {
  return {
    method: 'POST',
    path: '/cancel',
    surface: 'page',
    answer: async (request) => {
      const form = await readForm(request);
      const { outcome } = await site.authorization.cancelAuthorization({
        interaction: interactionRef(site, request, form),
      });
      if (outcome.case === 'redirect' || outcome.case === 'foreign')
        return redirectAnswer(outcome.value.location);
      return expiredAnswer(site, request);
    },
    explain: explainUnavailable(site, interactionAddress),
  };
}
