// The authorization endpoint by POST (R5).
import { expect, test } from 'vitest';
import { logInAndAgree, loginForm } from '../support/flow.ts';
import { send } from '../support/http.ts';
import { freshBrowser, full, oidc, typical } from './deployment.ts';
import { expectError, expectPage } from './expectations.ts';

const parameters = {
  response_type: 'code',
  client_id: full.clientId,
  redirect_uri: full.redirectUris[0],
  scope: 'openid',
  state: 'posted',
};

test('a form-encoded POST begins the same flow as a GET [R5.15]', async () => {
  const agent = freshBrowser();
  const page = expectPage(await agent.visit(oidc.authorization_endpoint, { form: parameters }));
  expect(loginForm(page)).toBeDefined();
  const departure = await logInAndAgree(agent, page, typical);
  expect(departure.parameters.get('code')).not.toBeNull();
  expect(departure.parameters.get('state')).toBe('posted');
});

test('a POST from the partner’s site ends on the same page [R5.15]', async () => {
  const first = await send(oidc.authorization_endpoint, {
    form: parameters,
    headers: { 'sec-fetch-site': 'cross-site', origin: 'https://partner.example' },
  });
  expect(first.status).toBe(303);
  const location = new URL(first.headers.location ?? '', oidc.authorization_endpoint).href;
  expect(loginForm(expectPage(await freshBrowser().visit(location)))).toBeDefined();
});

test('a POST is refused as the GET is [R5.15 R1.1]', async () => {
  const form = { ...parameters, scope: 'everything' };
  expectError(await send(oidc.authorization_endpoint, { form }), 400, 'invalid_scope');
});
