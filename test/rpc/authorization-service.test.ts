// Identity's authorization and discovery services by their contract, called from outside.
import { randomBytes } from 'node:crypto';
import { Code } from '@connectrpc/connect';
import { AuthorizationService, LoginRejected_Reason } from '@course-exchange/proto/identity/v1/authorization';
import { DiscoveryService } from '@course-exchange/proto/identity/v1/discovery';
import { expect, test } from 'vitest';
import { refusalOf } from '../support/grpc-client.ts';
import { runningStack } from '../support/running-stack.ts';
import { partnerFor } from '../support/stack-file.ts';
import { callUnknown, clientOf, withDeadline } from './wire-client.ts';

const stack = runningStack();
const partner = partnerFor(stack, 'openid', 'email', 'profile');
const authorization = clientOf('identity', AuthorizationService);
const discovery = clientOf('identity', DiscoveryService);
const parameters = {
  responseType: 'code',
  clientId: partner.clientId,
  redirectUri: partner.redirectUris[0],
  scope: 'openid',
  state: 'a-state',
};

/** A network whose failed logins nobody has counted yet (R30). */
function newNetwork(): string {
  return `2001:db8:${randomBytes(2).toString('hex')}:${randomBytes(2).toString('hex')}::1`;
}

async function beginAtLogin() {
  const { outcome } = await authorization.beginAuthorization({ parameters });
  if (outcome.case !== 'interaction') throw new Error(`Not an interaction: ${outcome.case}`);
  const { interactionId, interactionCookie, expiresIn, login } = outcome.value;
  expect(expiresIn).toBeGreaterThan(0);
  expect(login?.page?.clientName).toBe(partner.name);
  const { formToken = '', sealedInteraction = '' } = login?.page ?? {};
  return { interactionId, interactionCookie, formToken, sealedInteraction, browserSession: '' };
}

test('discovery and the key set are served to anybody', async () => {
  const facts = await discovery.getDiscovery({});
  expect(facts).toMatchObject({
    issuer: stack.issuer,
    responseTypesSupported: ['code'],
    grantTypesSupported: ['authorization_code', 'refresh_token'],
  });
  const { keys } = JSON.parse((await discovery.getKeySet({})).jwks) as { keys: Record<string, string>[] };
  expect(keys.map(({ alg }) => alg)).toContain('RS256');
  expect(keys.every(({ kid, kty }) => kid && kty)).toBe(true);
  expect(keys.every((key) => !('d' in key))).toBe(true);
});

const refused = [
  ['an unknown client', { clientId: 'nobody' }, Code.Unauthenticated, 'invalid_client'],
  [
    'an unregistered redirect URI',
    { redirectUri: 'https://a.example/' },
    Code.InvalidArgument,
    'invalid_redirect_uri',
  ],
  ['an unapproved scope', { scope: 'openid designs' }, Code.InvalidArgument, 'invalid_scope'],
  ['another response type', { responseType: 'token' }, Code.InvalidArgument, 'unsupported_response_type'],
  ['a malformed challenge', { codeChallenge: 'short' }, Code.InvalidArgument, 'invalid_request'],
] as const;

test.each(refused)('%s is refused with its status and error code', async (_, change, status, errorCode) => {
  const call = authorization.beginAuthorization({ parameters: { ...parameters, ...change } });
  expect(await refusalOf(call)).toMatchObject({ status, errorCode });
});

test('a wrong password is an answer, not an error', async () => {
  const interaction = await beginAtLogin();
  const login = { interaction, email: 'nobody@example.org', password: 'wrong' };
  const headers = { 'x-client-address': newNetwork() };
  const { outcome } = await authorization.submitLogin(login, { timeoutMs: 10_000, headers });
  expect(outcome).toMatchObject({ case: 'rejected', value: { reason: LoginRejected_Reason.CREDENTIALS } });
  const empty = await authorization.submitLogin({ ...login, password: '' }, { headers });
  expect(empty.outcome).toMatchObject({ value: { reason: LoginRejected_Reason.INCOMPLETE } });
});

test('a login that outlasts its deadline ends with it', async () => {
  const login = { interaction: await beginAtLogin(), email: 'nobody@example.org', password: 'wrong' };
  const call = authorization.submitLogin(login, withDeadline('', '2m'));
  // Told by whichever clock is first.
  expect([Code.DeadlineExceeded, Code.Unavailable]).toContain((await refusalOf(call)).status);
});

test('nobody is signed in without a session cookie, and ending that is no error', async () => {
  const session = await authorization.getBrowserSession({});
  expect(session.account).toBeUndefined();
  await expect(authorization.endBrowserSession({})).resolves.toBeDefined();
});

test('an oversized message is refused, an unknown method unimplemented', async () => {
  const oversized = { parameters: { ...parameters, state: 's'.repeat(300 * 1024) } };
  expect((await refusalOf(authorization.beginAuthorization(oversized))).status).toBe(Code.ResourceExhausted);
  const unknown = callUnknown('identity', AuthorizationService.method.getInteraction, 'GrantEverything');
  expect((await refusalOf(unknown)).status).toBe(Code.Unimplemented);
});
