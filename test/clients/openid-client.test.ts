// openid-client, as it comes, runs the whole flow.
import * as client from 'openid-client';
import { expect, test } from 'vitest';
import { agree, type Method, methods, registration } from './user.ts';

const authentications = {
  client_secret_basic: client.ClientSecretBasic,
  client_secret_post: client.ClientSecretPost,
};

function discover(method: Method): Promise<client.Configuration> {
  const { issuer, clientId, clientSecret } = registration;
  const authentication = authentications[method](clientSecret);
  const execute = issuer.startsWith('http:') ? [client.allowInsecureRequests] : [];
  return client.discovery(new URL(issuer), clientId, undefined, authentication, { execute });
}

async function connect(config: client.Configuration) {
  const [pkceCodeVerifier, expectedState, expectedNonce] = [
    client.randomPKCECodeVerifier(),
    client.randomState(),
    client.randomNonce(),
  ];
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: registration.redirectUri,
    scope: registration.scope,
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: expectedState,
    nonce: expectedNonce,
  });
  const checks = { pkceCodeVerifier, expectedState, expectedNonce, idTokenExpected: true };
  return client.authorizationCodeGrant(config, new URL(await agree(url.href)), checks);
}

test.each(methods)('openid-client runs the flow with %s [R5.17 S5.flow.3 S5.flow.4]', async (method) => {
  const config = await discover(method);
  const tokens = await connect(config);
  expect(tokens.claims()).toMatchObject({ sub: registration.user.sub, email: registration.user.email });

  const info = await client.fetchUserInfo(config, tokens.access_token, registration.user.sub);
  expect(info).toMatchObject({ sub: registration.user.sub, name: registration.user.name });

  const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token ?? '');
  expect(refreshed.refresh_token).not.toBe(tokens.refresh_token);
  expect(refreshed.id_token).toBeUndefined();

  const address = new URL(`${registration.issuer}/api/events`);
  const events = await client.fetchProtectedResource(config, refreshed.access_token, address, 'GET');
  expect(events.status).toBe(200);
  expect(await events.json()).toMatchObject({ items: expect.arrayContaining([expect.anything()]) });
});
