// Identity's token service by its contract, called from outside.
import { Code } from '@connectrpc/connect';
import { TokenService } from '@course-exchange/proto/identity/v1/token';
import { expect, test } from 'vitest';
import { basic } from '../support/flow.ts';
import { runningStack } from '../support/running-stack.ts';
import { partnerFor, userWho } from '../support/stack-file.ts';
import { consent, exchangeRequest, tokensFor } from './grant.ts';
import { callUnknown, clientOf, refusalOf, withToken } from './wire-client.ts';

const stack = runningStack();
const partner = partnerFor(stack, 'openid', 'email', 'profile');
const user = userWho(stack, 'typical season');
const tokens = clientOf('identity', TokenService);
const { authorization } = basic(partner);

test('a code is exchanged once, and its tokens open user-info', async () => {
  const consented = await consent(partner, user);
  const request = exchangeRequest(partner, consented);
  const issued = await tokens.exchangeToken(request);
  expect(issued).toMatchObject({ expiresIn: 900, scope: 'openid email profile' });
  const info = await tokens.getUserInfo({}, withToken(issued.accessToken));
  expect(info).toMatchObject({ sub: user.sub, email: user.email, name: user.name });
  expect(await refusalOf(tokens.exchangeToken(request))).toEqual({
    status: Code.FailedPrecondition,
    errorCode: 'invalid_grant',
  });
});

test('of 20 concurrent exchanges of one code exactly one succeeds [R9.2]', async () => {
  const request = exchangeRequest(partner, await consent(partner, user));
  const attempts = Array.from({ length: 20 }, () =>
    tokens.exchangeToken(request).then(
      () => 'tokens',
      async (error) => (await refusalOf(Promise.reject(error))).errorCode,
    ),
  );
  const outcomes = await Promise.all(attempts);
  expect(outcomes.filter((outcome) => outcome === 'tokens')).toHaveLength(1);
  expect(outcomes.filter((outcome) => outcome === 'invalid_grant')).toHaveLength(19);
});

test('the same decision again gives the same redirect, never a second code', async () => {
  const consented = await consent(partner, user);
  expect(await consented.again()).toBe(consented.location);
});

test('a refresh rotates, and the consumed token is refused', async () => {
  const { refreshToken } = await tokensFor(partner, user);
  const request = { authorization, grantType: 'refresh_token', refreshToken, formEncoded: true };
  const rotated = await tokens.exchangeToken(request);
  expect(rotated.refreshToken).not.toBe(refreshToken);
  expect(rotated.idToken).toBeUndefined();
  expect((await refusalOf(tokens.exchangeToken(request))).errorCode).toBe('invalid_grant');
});

const refused = [
  ['a wrong secret', { authorization: 'Basic d3Jvbmc6d3Jvbmc=' }, Code.Unauthenticated, 'invalid_client'],
  ['no client', { authorization: '' }, Code.Unauthenticated, 'invalid_client'],
  ['an unknown grant', { grantType: 'password' }, Code.InvalidArgument, 'unsupported_grant_type'],
  ['no grant', { grantType: '' }, Code.InvalidArgument, 'invalid_request'],
  ['an unknown code', { code: 'AAAA.BBBB' }, Code.FailedPrecondition, 'invalid_grant'],
  ['a foreign content type', { formEncoded: false }, Code.InvalidArgument, 'invalid_request'],
  ['a repeated parameter', { repeatedParameters: ['code'] }, Code.InvalidArgument, 'invalid_request'],
] as const;

test.each(refused)('%s is refused with its status and error code', async (_, change, status, errorCode) => {
  const request = {
    authorization,
    grantType: 'authorization_code',
    code: 'unknown',
    redirectUri: partner.redirectUris[0],
    formEncoded: true,
  };
  const changed = {
    ...request,
    ...change,
    repeatedParameters: [...((change as { repeatedParameters?: string[] }).repeatedParameters ?? [])],
  };
  expect(await refusalOf(tokens.exchangeToken(changed))).toEqual({ status, errorCode });
});

test.each(['', 'Bearer', 'Bearer wrong', 'Basic d3Jvbmc6d3Jvbmc='])(
  'user-info with the authorization %j is invalid_token',
  async (value) => {
    const headers = { authorization: value };
    expect(await refusalOf(tokens.getUserInfo({}, { headers }))).toEqual({
      status: Code.Unauthenticated,
      errorCode: 'invalid_token',
    });
  },
);

test('an ID token opens nothing', async () => {
  const { idToken = '' } = await tokensFor(partner, user);
  expect((await refusalOf(tokens.getUserInfo({}, withToken(idToken)))).errorCode).toBe('invalid_token');
});

test('an oversized message is refused before it is read', async () => {
  const call = tokens.exchangeToken({ code: 'c'.repeat(300 * 1024), formEncoded: true });
  expect((await refusalOf(call)).status).toBe(Code.ResourceExhausted);
});

test('a method that is not there is unimplemented', async () => {
  const call = callUnknown('identity', TokenService.method.getUserInfo, 'DropTables');
  expect((await refusalOf(call)).status).toBe(Code.Unimplemented);
});
