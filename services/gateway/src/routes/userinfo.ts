// GET and POST /userinfo: the claims of the token's user (specification §4, R26). A body is never read.
import { jsonAnswer } from '../answer.ts';
import { bearerCall } from '../wire/bearer.ts';
import type { Services } from '../wire/services.ts';
import type { Route } from './route.ts';

export const userinfoPath = '/userinfo';

export function userinfo({ token }: Pick<Services, 'token'>): readonly Route[] {
  const answer: Route['answer'] = async (request) => {
    const user = await token.getUserInfo({}, bearerCall(request.authorization));
    const { sub, email, emailVerified, name } = user;
    return jsonAnswer(200, JSON.stringify({ sub, email, email_verified: emailVerified, name }));
  };
  return (['GET', 'POST'] as const).map((method) => ({
    method,
    path: userinfoPath,
    surface: 'resource',
    answer,
  }));
}
