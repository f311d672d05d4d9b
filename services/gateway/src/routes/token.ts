// POST /token: identity checks in the order of R8.
import { ExchangeTokenRequestSchema } from '@course-exchange/proto/identity/v1/token';
import { tokenParameters } from '@course-exchange/rules/parameters';
import { logText } from '@course-exchange/runtime/process/logger';
import { annotate, renameSpan } from '@course-exchange/runtime/process/spans';
import { readForm, textsOf } from '../http/form.ts';
import { jsonAnswer, type Route } from '../http/route.ts';
import type { Services } from '../services.ts';

export const tokenPath = '/token';

const parametersOf = textsOf(ExchangeTokenRequestSchema);
/** Those that spans name. */
const grantTypes = new Set(['authorization_code', 'refresh_token']);

export function tokenRoute({ token }: Pick<Services, 'token'>): Route {
  return {
    method: 'POST',
    path: tokenPath,
    profile: 'token',
    answer: async (request) => {
      const form = readForm(request);
      const given = form.get('grant_type');
      const grantType = logText(grantTypes.has(given) ? given : 'other');
      renameSpan(`POST ${tokenPath} ${grantType}`);
      annotate(() => ({ 'course_exchange.grant_type': grantType }));
      const response = await token.exchangeToken({
        ...parametersOf(form),
        authorization: request.authorization ?? '',
        repeatedParameters: form.repeated(tokenParameters),
      });
      const body = {
        access_token: response.accessToken,
        token_type: 'Bearer',
        expires_in: response.expiresIn,
        refresh_token: response.refreshToken,
        scope: response.scope,
        id_token: response.idToken,
      };
      return jsonAnswer(200, JSON.stringify(body));
    },
  };
}
