// What the services answer at their own ports and HTTP does not show: the gRPC status and error code of a refusal, and the
// bounds of a call. The rules themselves: test/contract.
import { randomBytes } from 'node:crypto';
import type { DescMethod, DescMethodUnary } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import { CatalogService } from '@course-exchange/proto/catalog/v1';
import { AuthorizationService, LoginRejected_Reason } from '@course-exchange/proto/identity/v1/authorization';
import { TokenService } from '@course-exchange/proto/identity/v1/token';
import { expect, test } from 'vitest';
import { basic, openCaller } from '../support/flow.ts';
import { callService, grpcTransport, refusalOf } from '../support/grpc-client.ts';
import { partnerFor, runningStack } from '../support/stack-file.ts';

const stack = runningStack();
const partner = partnerFor(stack, 'openid', 'email', 'profile');
const [redirectUri] = partner.redirectUris;
const at = (service: 'identity' | 'design-catalog') => `${stack.addresses?.[service]}`;
const authorization = callService(AuthorizationService, at('identity'));
const tokens = callService(TokenService, at('identity'));
const catalog = callService(CatalogService, at('design-catalog'));

const plain = { responseType: 'code', clientId: partner.clientId, redirectUri, scope: 'openid', state: '' };
const begin = (change: object, repeatedParameters: string[] = []) =>
  authorization.beginAuthorization({ parameters: { ...plain, ...change }, repeatedParameters });
const grant = { ...basic(partner), grantType: 'authorization_code', code: 'AAAA.BBBB', redirectUri };
const exchange = (change: object) => tokens.exchangeToken({ ...grant, ...change });
const bearer = (accessToken: string) => ({ authorization: `Bearer ${accessToken}` });
const listEvents = (accessToken: string, more = {}) =>
  Array.fromAsync(catalog.listEvents({}, { headers: { ...bearer(accessToken), ...more } }));
const listDesigns = (eventId: string) =>
  Array.fromAsync(catalog.listDesigns({ eventId }, { headers: bearer('wrong') }));

/** By the clock that is first; the reset of the stream may overtake the status. */
const deadlineCodes = [Code.DeadlineExceeded, Code.Unavailable, Code.Canceled];

test.each<[string, () => Promise<unknown>, Code, string]>([
  ['an unknown client', () => begin({ clientId: 'x' }), Code.Unauthenticated, 'invalid_client'],
  ['a foreign URI', () => begin({ redirectUri: 'x:' }), Code.InvalidArgument, 'invalid_redirect_uri'],
  ['a wrong secret', () => exchange({ authorization: 'Basic eDp4' }), Code.Unauthenticated, 'invalid_client'],
  ['an unknown grant', () => exchange({ grantType: 'x' }), Code.InvalidArgument, 'unsupported_grant_type'],
  ['an unknown code', () => exchange({}), Code.FailedPrecondition, 'invalid_grant'],
  ['no token', () => tokens.getUserInfo({}), Code.Unauthenticated, 'invalid_token'],
  ['a wrong token of events', () => listEvents('wrong'), Code.Unauthenticated, 'invalid_token'],
  ['a wrong token of designs', () => listDesigns('x'), Code.Unauthenticated, 'invalid_token'],
])('%s is refused with its status and error code', async (_what, call, status, errorCode) => {
  expect(await refusalOf(call())).toMatchObject({ status, errorCode });
});

test('each known parameter that came twice is invalid_request, whatever its value [R1.2 R7.5]', async () => {
  const atAuthorization =
    'response_type client_id redirect_uri scope state nonce response_mode code_challenge code_challenge_method ' +
    'prompt max_age login_hint id_token_hint ui_locales request request_uri claims acr_values display claims_locales';
  const atToken = 'grant_type code redirect_uri code_verifier refresh_token scope client_id client_secret';
  const calls = [
    ...atAuthorization.split(' ').map((name) => begin({}, ['utm', name])),
    ...atToken.split(' ').map((name) => exchange({ repeatedParameters: ['utm', name] })),
  ];
  for (const refusal of await Promise.all(calls.map(refusalOf)))
    expect(refusal).toMatchObject({ status: Code.InvalidArgument, errorCode: 'invalid_request' });
  expect((await begin({}, ['utm'])).outcome.case).toBe('interaction');
});

test('a wrong password is an answer, not an error; a login that outlasts its deadline ends with it', async () => {
  const { outcome } = await begin({});
  if (outcome.case !== 'interaction') throw new Error(`Not an interaction: ${outcome.case}`);
  const { interactionId, interactionCookie, login: page } = outcome.value;
  const { formToken = '', sealedInteraction = '' } = page?.page ?? {};
  const interaction = { interactionId, interactionCookie, formToken, sealedInteraction };
  // A network without counted failures (R30.7).
  const headers = { 'x-client-address': `2001:db8:${randomBytes(2).toString('hex')}::1` };
  const logIn = (password: string, more = {}) =>
    authorization.submitLogin(
      { interaction, email: 'nobody@example.org', password },
      { headers: { ...headers, ...more } },
    );
  const rejected = (reason: LoginRejected_Reason) => ({ outcome: { case: 'rejected', value: { reason } } });
  expect(await logIn('wrong')).toMatchObject(rejected(LoginRejected_Reason.CREDENTIALS));
  expect(await logIn('')).toMatchObject(rejected(LoginRejected_Reason.INCOMPLETE));
  const late = logIn('wrong', { 'grpc-timeout': '2m' });
  expect(deadlineCodes).toContain((await refusalOf(late)).status);
});

test('2,000 events come whole, in parts; a list that outlasts its deadline ends with it', async () => {
  const { access_token: longList } = await (await openCaller(stack, '2,000 events')).newTokens();
  const parts = await listEvents(longList);
  expect(parts.length).toBeGreaterThan(1);
  const text = Buffer.concat(parts.map(({ body }) => body)).toString();
  expect(JSON.parse(text).items).toHaveLength(2_000);
  const late = listEvents(longList, { 'grpc-timeout': '1m' });
  expect(deadlineCodes).toContain((await refusalOf(late)).status);
});

test('an oversized message is refused before it is read, an unknown method is unimplemented', async () => {
  const long = 'x'.repeat(300 * 1024);
  const unknownOf = (service: Parameters<typeof at>[0], like: DescMethod) => {
    const method = { ...like, methodKind: 'unary', name: 'Unknown' } as DescMethodUnary;
    return grpcTransport(at(service)).unary(method, undefined, 5_000, undefined, {});
  };
  const calls = [
    begin({ state: long }),
    listDesigns(long),
    unknownOf('identity', AuthorizationService.method.getInteraction),
    unknownOf('design-catalog', CatalogService.method.listDesigns),
  ];
  const refusals = await Promise.all(calls.map(refusalOf));
  const [tooLong, unknown] = [Code.ResourceExhausted, Code.Unimplemented];
  expect(refusals.map(({ status }) => status)).toEqual([tooLong, tooLong, unknown, unknown]);
});
