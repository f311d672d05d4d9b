// GET /login, /account and /consent: each shows the page at which the transaction stands, or leads to it.
// Nothing changes, so reload and back work.
import type { GetInteractionResponse } from '@course-exchange/proto/identity/v1/authorization';
import { type Answer, redirectAnswer } from '../answer.ts';
import { decodeForm } from '../wire/form.ts';
import { showAccount, showConsent, showLogin, type ViewPlace } from './interaction-view.ts';
import type { Route } from './route.ts';
import {
  expiredAnswer,
  explainUnavailable,
  interactionAddress,
  interactionIdOf,
  pageAddress,
  type Site,
} from './site.ts';

export function getInteraction(site: Site): readonly Route[] {
  return ['/login', '/account', '/consent'].map((path) => ({
    method: 'GET',
    path,
    surface: 'page',
    answer: async (request) => {
      const interactionId = interactionIdOf(decodeForm(request.query));
      if (interactionId === '') return expiredAnswer(site, request);
      const { cookie } = request.headers;
      const { view } = await site.authorization.getInteraction({
        interaction: {
          interactionId,
          binding: site.cookies.binding(cookie, interactionId),
          browserSession: site.cookies.session(cookie),
        },
      });
      return show({ site, request, interactionId }, view, path);
    },
    explain: explainUnavailable(site, interactionAddress),
  }));
}

/** The page when `path` is its own, else a redirect to it. */
function show(place: ViewPlace, view: GetInteractionResponse['view'], path: string): Answer {
  switch (view.case) {
    case 'login':
    case 'account':
    case 'consent': {
      const own = `/${view.case}`;
      return own === path ? showView(place, view) : redirectAnswer(pageAddress(own, place.interactionId));
    }
    case 'redirect':
      return redirectAnswer(view.value.location);
    default:
      return expiredAnswer(place.site, place.request);
  }
}

type PageView = Extract<GetInteractionResponse['view'], { case: 'login' | 'account' | 'consent' }>;

function showView(place: ViewPlace, view: PageView): Answer {
  if (view.case === 'login') return showLogin(place, view.value);
  if (view.case === 'account') return showAccount(place, view.value);
  return showConsent(place, view.value);
}
