// Values that no form of ours sends: names that every object has, and far too much text.
import { beforeAll, describe, expect, test } from 'vitest';
import { authorizeUrl, type Discovery, discover, formWith, logIn, loginForm } from '../support/flow.ts';
import { type Fields, sendUntilServed as send } from '../support/http.ts';
import { runningStack } from '../support/running-stack.ts';
import { partnerFor, userWho } from '../support/stack-file.ts';
import { openUserAgent, type Page } from '../support/user-agent.ts';

const stack = runningStack();
const partner = partnerFor(stack, 'openid', 'email', 'profile');
const user = userWho(stack, 'no designs');
const inherited = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf'];
/** A network of this test's own: its failed logins count for nobody else (R30). */
const from = process.platform === 'linux' ? '127.0.78.8' : undefined;
let discovery: Discovery;
beforeAll(async () => {
  discovery = await discover(stack.issuer);
});

const agent = openUserAgent(stack.issuer, { from });
/** Leads to a page with the form in question. */
const pages: Readonly<Record<string, () => Promise<Page>>> = {
  login: () => begin({ prompt: 'login' }),
  consent: async () => {
    const page = await begin({ prompt: 'login consent' });
    return loginForm(page) ? pageOf(await logIn(agent, page, user)) : page;
  },
  account: () => begin({ prompt: 'select_account' }),
};

async function begin(parameters: Fields): Promise<Page> {
  return pageOf(await agent.visit(authorizeUrl(discovery.authorization_endpoint, partner, parameters)));
}

function pageOf(outcome: Awaited<ReturnType<typeof agent.visit>>): Page {
  if (outcome.kind === 'departure') throw new Error(`no page: ${outcome.location}`);
  return outcome;
}

describe.each(Object.keys(pages))('the form of the page %s', (name) => {
  test('never answers a field named or filled like a part of every object with a 5xx', async () => {
    const page = await (pages[name] ?? pages.login)?.();
    if (!page) throw new Error('no page');
    const form = page.forms.find(({ fields }) => fields.length > 1);
    if (!form) throw new Error('no form');
    const kept = form.fields.filter(({ name: field }) => field !== '');
    const fields = new Set([...kept.map((field) => field.name), 'decision', 'choice', 'email', 'password']);
    for (const value of inherited) {
      for (const field of [...fields, value]) {
        const sent = { ...Object.fromEntries(kept.map((each) => [each.name, each.value])), [field]: value };
        const answer = await send(new URL(form.action, page.url).href, {
          form: Object.entries(sent),
          headers: { cookie: cookies(), 'sec-fetch-site': 'same-origin' },
          ...(from ? { from } : {}),
        });
        expect(answer.status, `${field}=${value} → ${answer.text.slice(0, 200)}`).toBeLessThan(500);
      }
    }
  });
});

function cookies(): string {
  return [...agent.cookies.values()].map(({ name, value }) => `${name}=${value}`).join('; ');
}

test('decision=__proto__ on a live consent page is refused and decides nothing', async () => {
  const page = await (pages.consent as () => Promise<Page>)();
  const form = formWith(page, 'decision', 'allow');
  if (!form) throw new Error(`no consent form: ${page.text.slice(0, 200)}`);
  for (const value of inherited) {
    const outcome = await agent.submit(page, form, {}, `decision=${value}`);
    expect(outcome.answer.status, value).toBeLessThan(500);
    if (outcome.kind === 'departure') expect(outcome.parameters.get('code'), value).toBeNull();
  }
});

test.each(['authorize', 'token'])('every parameter of /%s may be such a name without a 5xx', async (path) => {
  const names = [
    'response_type',
    'client_id',
    'redirect_uri',
    'scope',
    'state',
    'prompt',
    'max_age',
    'nonce',
  ];
  const tokenNames = ['grant_type', 'code', 'redirect_uri', 'code_verifier', 'refresh_token', 'client_id'];
  const plain = { response_type: 'code', client_id: partner.clientId, redirect_uri: partner.redirectUris[0] };
  for (const name of [...(path === 'token' ? tokenNames : names), ...inherited]) {
    for (const value of inherited) {
      const fields = Object.entries({ ...(path === 'token' ? {} : plain), [name]: value });
      const answer = await send(`${stack.issuer}/${path}`, { form: fields });
      expect(answer.status, `${name}=${value} → ${answer.text}`).toBeLessThan(500);
    }
  }
});

test('POST /authorize with a state of 60 KB is refused with invalid_request', async () => {
  const answer = await send(discovery.authorization_endpoint, {
    form: {
      response_type: 'code',
      client_id: partner.clientId,
      redirect_uri: partner.redirectUris[0],
      scope: 'openid',
      state: 's'.repeat(60_000),
    },
  });
  const { location } = answer.headers;
  const code = location === undefined ? answer.json().error : new URL(location).searchParams.get('error');
  expect(code).toBe('invalid_request');
  expect(answer.status).toBeLessThan(500);
});
