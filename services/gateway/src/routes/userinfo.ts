// GET and POST /userinfo (specification §4, R26). Only a form is read as a body.
import { Failure } from '@course-exchange/runtime/process/errors';
import { errorReply } from '../http/errors.ts';
import { readForm } from '../http/form.ts';
import { bringsForm, type IncomingRequest } from '../http/request.ts';
import { type Answer, jsonAnswer, type Route } from '../http/route.ts';
import { bearerCall, type Services } from '../services.ts';

export const userinfoPath = '/userinfo';

type UserinfoDeps = Pick<Services, 'token'>;

export function userinfoRoutes(deps: UserinfoDeps): readonly Route[] {
  const route = { path: userinfoPath, profile: 'resource', work: 'other' } as const;
  return [
    { ...route, method: 'GET', answer: ({ authorization }) => claims(deps, authorization) },
    { ...route, method: 'POST', answer: (request) => answerPost(deps, request) },
  ];
}

async function claims({ token }: UserinfoDeps, authorization: string | undefined): Promise<Answer> {
  const { sub, email, emailVerified, name } = await token.getUserInfo({}, bearerCall(authorization));
  return jsonAnswer(200, JSON.stringify({ sub, email, email_verified: emailVerified, name }));
}

/** In the header or in a form (RFC 6750 §2.2), once. */
async function answerPost(deps: UserinfoDeps, request: IncomingRequest): Promise<Answer> {
  const form = bringsForm(request) ? readForm(request) : undefined;
  const token = form?.get('access_token') ?? '';
  if (token === '') return claims(deps, request.authorization);
  if (request.authorization !== undefined || form?.repeated(['access_token']).length)
    throw new Failure('invalid_request', 'more than one token');
  try {
    return await claims(deps, `Bearer ${token}`);
  } catch (error) {
    // For R21 a token was sent, in the form.
    if (!(error instanceof Failure) || error.code !== 'invalid_token') throw error;
    return errorReply('invalid_token', 'resource', `Bearer ${token}`);
  }
}
