// Each environment is a separate installation (R28.1): what one issued is worthless to the other.
import { expect, test } from 'vitest';
import { authorizeUrl, basic, discover, openCaller, tokensOf } from '../support/flow.ts';
import { type Fields, send, sendUntilServed } from '../support/http.ts';
import { readStackFile, runningStack, stackFile } from '../support/stack-file.ts';
import { openUserAgent } from '../support/user-agent.ts';

test('tokens, codes, sessions and keys of one installation are nothing to another [R28.1]', async () => {
  const own = Number(process.env.VITEST_POOL_ID);
  const [one, two] = [runningStack(), readStackFile(stackFile(own === 1 ? 2 : 1))];
  expect(one.issuer).not.toBe(two.issuer);
  const { partner, codeForm, ask, discovery: here } = await openCaller(one);
  const there = await discover(two.issuer);
  // The other stack is another worker's, whose test may stop one of its stores.
  const tokenThere = (form: Fields) =>
    sendUntilServed(there.token_endpoint, { form, headers: basic(partner) });
  const redirect_uri = partner.redirectUris.find((uri) => uri.includes(':9099/')) ?? '';
  const agent = openUserAgent(one.issuer);
  const form = { ...(await codeForm(agent, { redirect_uri })), redirect_uri };
  const foreign = await tokenThere(form);
  expect([foreign.status, foreign.json().error]).toEqual([400, 'invalid_grant']);
  const tokens = tokensOf(await ask(form));
  const refresh = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token };
  expect((await tokenThere(refresh)).status).toBe(400);
  const headers = { authorization: `Bearer ${tokens.access_token}` };
  for (const path of ['/api/events', '/userinfo']) {
    expect((await send(`${one.issuer}${path}`, { headers })).status).toBe(200);
    expect((await sendUntilServed(`${two.issuer}${path}`, { headers })).status).toBe(401);
  }
  const cookie = [...agent.cookies.values()].map(({ name, value }) => `${name}=${value}`).join('; ');
  const silent = authorizeUrl(there.authorization_endpoint, partner, { redirect_uri, prompt: 'none' });
  const silenced = await sendUntilServed(silent, { headers: { cookie } });
  expect(silenced.headers.location).toMatch(/error=login_required/);
  const kids = async (url: string) =>
    ((await send(url)).json().keys as { kid: string }[]).map(({ kid }) => kid);
  const shared = new Set(await kids(here.jwks_uri));
  for (const kid of await kids(there.jwks_uri)) expect(shared.has(kid)).toBe(false);
});
