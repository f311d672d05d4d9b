// Identity's token service by its contract, called from outside.
import { Code } from '@connectrpc/connect';
import { TokenService } from '@course-exchange/proto/identity/v1/token';
import { expect, test } from 'vitest';
import { basic } from '../support/flow.ts';
import { refusalOf } from '../support/grpc-client.ts';
import { runningStack } from '../support/running-stack.ts';
import { partnerFor, userWho } from '../support/stack-file.ts';
import { clientOf, exchangeRequest, withToken } from './wire-client.ts';

const stack = runningStack();
const partner = partnerFor(stack, 'openid', 'email', 'profile');
const user = userWho(stack, 'typical season');
const tokens = clientOf('identity', TokenService);
const { authorization } = basic(partner);

test('a code is exchanged once, and its tokens open user-info', async () => {
  const request = await exchangeRequest(partner, user);
  const issued = await tokens.exchangeToken(request);
  expect(issued).toMatchObject({ expiresIn: 900, scope: 'openid email profile' });
  const info = await tokens.getUserInfo({}, withToken(issued.accessToken));
  expect(info).toMatchObject({ sub: user.sub, email: user.email, name: user.name });
  expect(await refusalOf(tokens.exchangeToken(request))).toMatchObject({
    status: Code.FailedPrecondition,
    errorCode: 'invalid_grant',
  });
});

const refused = [
  ['a wrong secret', { authorization: 'Basic d3Jvbmc6d3Jvbmc=' }, Code.Unauthenticated, 'invalid_client'],
  ['no client', { authorization: '' }, Code.Unauthenticated, 'invalid_client'],
  ['an unknown grant', { grantType: 'password' }, Code.InvalidArgument, 'unsupported_grant_type'],
  ['no grant', { grantType: '' }, Code.InvalidArgument, 'invalid_request'],
  ['an unknown code', { code: 'AAAA.BBBB' }, Code.FailedPrecondition, 'invalid_grant'],
  ['a repeated parameter', { repeatedParameters: ['code'] }, Code.InvalidArgument, 'invalid_request'],
] as const;

test.each(refused)('%s is refused with its status and error code', async (_, change, status, errorCode) => {
  const request = {
    authorization,
    grantType: 'authorization_code',
    code: 'unknown',
    redirectUri: partner.redirectUris[0],
  };
  const changed = {
    ...request,
    ...change,
    repeatedParameters: [...((change as { repeatedParameters?: string[] }).repeatedParameters ?? [])],
  };
  expect(await refusalOf(tokens.exchangeToken(changed))).toMatchObject({ status, errorCode });
});

test.each(['', 'Bearer', 'Bearer wrong', 'Basic d3Jvbmc6d3Jvbmc='])(
  'user-info with the authorization %j is invalid_token',
  async (value) => {
    const headers = { authorization: value };
    expect(await refusalOf(tokens.getUserInfo({}, { headers }))).toMatchObject({
      status: Code.Unauthenticated,
      errorCode: 'invalid_token',
    });
  },
);
