// Consent: remembered, asked again, refused, decided twice, submitted by a stranger.
import { expect, test } from 'vitest';
import { formWith, walkOn } from '../support/flow.ts';
import type { DemoUser, Partner } from '../support/stack-file.ts';
import type { Departure, Page, UserAgent } from '../support/user-agent.ts';
import {
  api,
  begin,
  exchange,
  freshBrowser,
  full,
  grant,
  issuer,
  partnerFor,
  storeTest,
  tokensFor,
  typical,
} from './deployment.ts';
import {
  expectDeparture,
  expectError,
  expectErrorRedirect,
  expectPage,
  protocolWords,
} from './expectations.ts';
import { throwawayPartner, throwawayUser } from './throwaway.ts';

/** A new consent page, forced by prompt=consent, because consent may already exist. */
async function consentPage(
  agent: UserAgent = freshBrowser(),
  user: DemoUser = typical,
  partner: Partner = full,
  parameters: Record<string, string> = {},
): Promise<Page> {
  const start = await begin(agent, partner, { state: 'st', prompt: 'consent', ...parameters });
  return expectPage(await walkOn(agent, start, user, { decision: 'none' }));
}

function decide(agent: UserAgent, page: Page, decision: 'allow' | 'deny'): Promise<Page | Departure> {
  const form = formWith(page, 'decision', decision);
  if (!form) throw new Error('no consent form');
  return agent.submit(page, form, {}, `decision=${decision}`);
}

test('a refusal is access_denied with the state, and nothing more [S4.authorization.3 S7.code.5 S7.channel.1]', async () => {
  const agent = freshBrowser();
  const { location } = expectDeparture(await decide(agent, await consentPage(agent), 'deny'));
  expect(location).toBe(`${full.redirectUris[0]}?error=access_denied&state=st`);
});

storeTest('consent is remembered, and asked again only for a new scope [R6.1 R6.2]', async () => {
  const [user, partner] = [await throwawayUser(), await throwawayPartner()];
  const agent = freshBrowser();
  await grant({ user, partner, agent, parameters: { scope: 'openid email' } });
  for (const scope of ['openid email', 'email', 'openid']) {
    const outcome = await begin(agent, partner, { scope });
    expect(expectDeparture(outcome, scope).parameters.get('code')).not.toBeNull();
  }
  const more = expectPage(await begin(agent, partner, { scope: 'openid email profile' }));
  expectDeparture(await decide(agent, more, 'allow'));
  expectDeparture(await begin(agent, partner, { scope: 'openid profile' }));
  expect(
    formWith(expectPage(await begin(agent, await throwawayPartner())), 'decision', 'allow'),
  ).toBeDefined();
});

test('the page names the partner and says that e-mail and name are shared, whatever the scopes [R6.8 S5.scope.2]', async () => {
  const page = await consentPage(freshBrowser(), typical, full, { scope: 'openid' });
  expect(page.text).toContain(full.name);
  expect(page.text).toMatch(/e-?mail/i);
  expect(page.text).toMatch(/\bname\b/i);
});

test('the page says that nothing is released without openid, and no endpoint opens [R6.9]', async () => {
  const partner = partnerFor('email', 'profile');
  const page = await consentPage(freshBrowser(), typical, partner, { scope: 'email profile' });
  expect(page.text).toMatch(/will see\s+Nothing\./);
  const { access_token } = await tokensFor({ partner });
  for (const path of ['/userinfo', '/api/events', '/api/events/ZXZlbnQ/designs'])
    expectError(await api(path, access_token), 401, 'invalid_token', path);
});

test('a double click gets the same redirect, never a second code [R6.7]', async () => {
  const agent = freshBrowser();
  const page = await consentPage(agent);
  const outcomes = await Promise.all([1, 2, 3].map(() => decide(agent, page, 'allow')));
  outcomes.push(await decide(agent, page, 'allow'));
  expect(new Set(outcomes.map((outcome) => expectDeparture(outcome).location)).size).toBe(1);
});

test('another browser’s form is refused by redirect, and the owner goes on [R6.3 R6.6 R25.9 S7.channel.1]', async () => {
  const owner = freshBrowser();
  const page = await consentPage(owner);
  for (const stranger of [freshBrowser(), await signedInElsewhere()]) {
    const refused = expectErrorRedirect(await decide(stranger, page, 'allow'), 'invalid_request');
    expect(refused.parameters.get('state')).toBe('st');
  }
  expect(expectDeparture(await decide(owner, page, 'allow')).parameters.get('code')).not.toBeNull();
});

async function signedInElsewhere(): Promise<UserAgent> {
  const agent = freshBrowser();
  await consentPage(agent);
  return agent;
}

test('a form token of another transaction is foreign [R6.3 R25.9]', async () => {
  const agent = freshBrowser();
  const [first, second] = [await consentPage(agent), await consentPage(agent)];
  const hidden = formWith(second, 'decision', 'allow')?.fields.find((field) => field.name === 'form_token');
  const form = formWith(first, 'decision', 'allow');
  if (!form || !hidden) throw new Error('no form token');
  const crossed = await agent.submit(first, form, { form_token: hidden.value }, 'decision=allow');
  expectErrorRedirect(crossed, 'invalid_request');
});

test('two transactions in one browser do not disturb each other [R6.6]', async () => {
  const agent = freshBrowser();
  const pages = [await consentPage(agent), await consentPage(agent, typical, full, { state: 'second' })];
  for (const [page, state] of [
    [pages[1], 'second'],
    [pages[0], 'st'],
  ] as const) {
    expect(expectDeparture(await decide(agent, page as Page, 'allow')).parameters.get('state')).toBe(state);
  }
});

test('a form of no known transaction is a page for people, 400 [R6.4 R1.11]', async () => {
  const agent = freshBrowser();
  const page = await consentPage(agent);
  const form = formWith(page, 'decision', 'allow');
  if (!form) throw new Error('no consent form');
  const outcome = await agent.submit(
    { ...page, url: `${issuer}/consent` },
    { ...form, action: '/consent' },
    { interaction: 'AAAAAAAAAAAAAAAAAAAAAA' },
    'decision=allow',
  );
  expect(expectPage(outcome, 400).text).not.toMatch(protocolWords);
});

storeTest('a consent extended stays the same consent: earlier families live on [R13.6]', async () => {
  const [user, partner, agent] = [await throwawayUser(), await throwawayPartner(), freshBrowser()];
  const early = await tokensFor({ user, partner, agent, parameters: { scope: 'openid' } });
  await tokensFor({ user, partner, agent, parameters: { scope: 'openid email', prompt: 'consent' } });
  const form = { grant_type: 'refresh_token', refresh_token: early.refresh_token, code: undefined };
  const answer = await exchange(
    { ...(await grant({ user, partner, agent })) },
    { ...form, redirect_uri: undefined, code_verifier: undefined },
  );
  expect(answer.status).toBe(200);
  expect(answer.json().scope).toBe('openid');
});
