// POST /token: hands the fields to identity as they came; identity decides in the order of R8.
import type { ExchangeTokenResponse } from '@course-exchange/proto/identity/v1/token';
import { jsonAnswer } from '../answer.ts';
import { decodeForm, isFormEncoded } from '../wire/form.ts';
import type { Services } from '../wire/services.ts';
import type { Route } from './route.ts';

export const tokenPath = '/token';

export function postToken({ token }: Pick<Services, 'token'>): Route {
  return {
    method: 'POST',
    path: tokenPath,
    surface: 'token',
    answer: async (request) => {
      const formEncoded = isFormEncoded(request.headers['content-type']);
      const form = decodeForm(formEncoded ? await request.readBody() : '');
      const response = await token.exchangeToken({
        authorization: request.authorization ?? '',
        grantType: form.get('grant_type'),
        code: form.get('code'),
        redirectUri: form.get('redirect_uri'),
        codeVerifier: form.get('code_verifier'),
        refreshToken: form.get('refresh_token'),
        scope: form.get('scope'),
        clientId: form.get('client_id'),
        clientSecret: form.get('client_secret'),
        repeatedParameters: [...form.repeated],
        formEncoded,
      });
      return jsonAnswer(200, tokenJson(response));
    },
  };
}

function tokenJson(response: ExchangeTokenResponse): string {
  return JSON.stringify({
    access_token: response.accessToken,
    token_type: 'Bearer',
    expires_in: response.expiresIn,
    refresh_token: response.refreshToken,
    scope: response.scope,
    ...(response.idToken === undefined ? {} : { id_token: response.idToken }),
  });
}
