// oauth4webapi, as it comes, runs the whole flow, each check of the specification for clients spelt out.
import * as oauth from 'oauth4webapi';
import { expect, test } from 'vitest';
import { agree, type Method, methods, registration } from './user.ts';

const client: oauth.Client = { client_id: registration.clientId };
const insecure = { [oauth.allowInsecureRequests]: registration.issuer.startsWith('http:') };
const authentications: Record<Method, oauth.ClientAuth> = {
  client_secret_basic: oauth.ClientSecretBasic(registration.clientSecret),
  client_secret_post: oauth.ClientSecretPost(registration.clientSecret),
};

async function discover(): Promise<oauth.AuthorizationServer> {
  const issuer = new URL(registration.issuer);
  return oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));
}

/** Asks for a code and returns what the exchange needs. */
async function authorize(server: oauth.AuthorizationServer) {
  const [verifier, state, nonce] = [
    oauth.generateRandomCodeVerifier(),
    oauth.generateRandomState(),
    oauth.generateRandomNonce(),
  ];
  const url = new URL(server.authorization_endpoint ?? '');
  url.search = new URLSearchParams({
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: registration.redirectUri,
    scope: registration.scope,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    nonce,
  }).toString();
  const callback = new URL(await agree(url.href));
  return { verifier, nonce, parameters: oauth.validateAuthResponse(server, client, callback, state) };
}

async function exchange(server: oauth.AuthorizationServer, authentication: oauth.ClientAuth) {
  const { verifier, nonce, parameters } = await authorize(server);
  const { redirectUri } = registration;
  const response = await oauth.authorizationCodeGrantRequest(
    ...[server, client, authentication, parameters, redirectUri, verifier, insecure],
  );
  return oauth.processAuthorizationCodeResponse(server, client, response, {
    expectedNonce: nonce,
    requireIdToken: true,
  });
}

test.each(methods)('oauth4webapi runs the flow with %s [R5.17 S5.flow.3]', async (method) => {
  const server = await discover();
  const authentication = authentications[method];
  const tokens = await exchange(server, authentication);
  const claims = oauth.getValidatedIdTokenClaims(tokens);
  expect(claims).toMatchObject({ iss: registration.issuer, sub: registration.user.sub });

  const infoResponse = await oauth.userInfoRequest(server, client, tokens.access_token, insecure);
  const info = await oauth.processUserInfoResponse(server, client, claims?.sub ?? '', infoResponse);
  expect(info.email).toBe(registration.user.email);

  const refreshResponse = await oauth.refreshTokenGrantRequest(
    ...[server, client, authentication, tokens.refresh_token ?? '', insecure],
  );
  const refreshed = await oauth.processRefreshTokenResponse(server, client, refreshResponse);
  expect(refreshed.expires_in).toBe(900);

  const address = new URL(`${registration.issuer}/api/events`);
  const events = await oauth.protectedResourceRequest(
    ...[refreshed.access_token, 'GET', address, undefined, undefined, insecure],
  );
  expect(events.status).toBe(200);
});
