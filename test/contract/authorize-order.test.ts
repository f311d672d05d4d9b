// The order of checks at the authorization endpoint: of two faults the earlier one is answered. Its POST is answered as the
// GET (R5.15).
import { describe, expect, test } from 'vitest';
import { authorizeUrl, logInAndAgree, loginForm } from '../support/flow.ts';
import { type Answer, send } from '../support/http.ts';
import { freshBrowser, full, inactivePartner, oidc, orNone, stack, typical } from './deployment.ts';
import { expectError, expectPage } from './expectations.ts';

type Parameters = [name: string, value: string][];
type Fault = {
  readonly name: string;
  readonly rank: number;
  readonly error: string;
  readonly apply: (p: Parameters) => Parameters;
};

const plain: Parameters = [
  ['response_type', 'code'],
  ['client_id', full.clientId],
  ['redirect_uri', full.redirectUris[0]],
  ['scope', 'openid'],
  ['state', 'st'],
];

function set(name: string, value: string): Fault['apply'] {
  return (parameters) => [...parameters.filter(([known]) => known !== name), [name, value]];
}
function drop(name: string): Fault['apply'] {
  return (parameters) => parameters.filter(([known]) => known !== name);
}
function add(name: string, ...values: string[]): Fault['apply'] {
  return (parameters) => [...parameters, ...values.map((value): [string, string] => [name, value])];
}

const table: readonly [string, number, string, Fault['apply']][] = [
  ['state twice', 1, 'invalid_request', add('state', 'other')],
  ['nonce twice', 1, 'invalid_request', add('nonce', 'a', 'a')],
  ['client_id twice', 1, 'invalid_request', add('client_id', full.clientId)],
  ['no client', 2, 'invalid_client', drop('client_id')],
  ['empty client', 2, 'invalid_client', set('client_id', '')],
  ['unknown client', 2, 'invalid_client', set('client_id', 'nobody')],
  ['no redirect URI', 3, 'invalid_redirect_uri', drop('redirect_uri')],
  ['empty redirect URI', 3, 'invalid_redirect_uri', set('redirect_uri', '')],
  ['foreign redirect URI', 3, 'invalid_redirect_uri', set('redirect_uri', 'https://evil.example/')],
  ['no scope', 4, 'invalid_scope', drop('scope')],
  ['blank scope', 4, 'invalid_scope', set('scope', ' ')],
  ['unknown scope', 4, 'invalid_scope', set('scope', 'openid designs')],
  ['no response type', 5, 'invalid_request', drop('response_type')],
  ['empty response type', 5, 'invalid_request', set('response_type', '')],
  ['response type token', 5, 'unsupported_response_type', set('response_type', 'token')],
  ['response type code id_token', 5, 'unsupported_response_type', set('response_type', 'code id_token')],
  ['method without challenge', 6, 'invalid_request', add('code_challenge_method', 'S256')],
  ['short challenge', 6, 'invalid_request', add('code_challenge', 'short')],
  ['long state', 7, 'invalid_request', set('state', 'é'.repeat(1_025))],
  ['long nonce', 7, 'invalid_request', set('nonce', 'n'.repeat(2_049))],
];
const faults = table.map(([name, rank, error, apply]): Fault => ({ name, rank, error, apply }));

function ask(parameters: Parameters, headers: Record<string, string> = {}): Promise<Answer> {
  return send(authorizeUrl(oidc.authorization_endpoint, full, parameters), { headers });
}

const alone =
  '[R1.1 R1.2 R1.3 R1.4 R1.5 R1.6 R1.7 R1.8 R3.6 S7.1 S7.channel.2 S7.code.1 S7.code.2 S7.code.3 S7.code.4 S7.code.7 S4.authorization.1]';
describe(`each fault alone is a direct 400 with its code ${alone}`, () => {
  test.each(faults)('$name → $error', async (fault) => {
    const answer = await ask(fault.apply(plain));
    expectError(answer, 400, fault.error, fault.name);
    expect(answer.headers.location).toBeUndefined();
  });
});

test('a state or nonce that is not UTF-8 is refused, and U+FFFD itself is a letter [R3.6]', async () => {
  const url = authorizeUrl(oidc.authorization_endpoint, full, [...plain, ['prompt', 'none']]);
  for (const broken of ['%ff', 'a%C3', '%ED%A0%80', '%C3%EF%BF%BD%A9']) {
    expectError(await send(url.replace('state=st', `state=${broken}`)), 400, 'invalid_request', broken);
    expectError(await send(`${url}&nonce=${broken}`), 400, 'invalid_request', broken);
  }
  const letter = await send(url.replace('state=st', 'state=%EF%BF%BD'));
  expect(letter.headers.location).toMatch(/error=login_required&state=%EF%BF%BD$/);
});

test('a state and a nonce of 2,048 bytes pass [R3.6]', async () => {
  const [state, nonce] = ['é'.repeat(1_024), 'n'.repeat(2_048)];
  const asked: Parameters = [...set('state', state)(plain), ['nonce', nonce], ['prompt', 'none']];
  const { location } = (await ask(asked)).headers;
  expect(new URL(location ?? '').searchParams.get('state')).toBe(state);
});

test('an inactive client is invalid_client, alone and before what is checked later [R1.3 S7.code.1]', async () => {
  const inactive = set('client_id', inactivePartner().clientId);
  for (const fault of [{ apply: (p: Parameters) => p }, ...faults.filter(({ rank }) => rank > 2)])
    expectError(await ask(inactive(fault.apply(plain))), 400, 'invalid_client');
});

test('the earlier of any two faults is answered [R1.2 R1.3 R1.4 R1.5 R1.6 R1.7]', async () => {
  for (const [index, first] of faults.entries()) {
    const undoes = (second: Fault): boolean => first.name === 'client_id twice' && second.rank === 2;
    const later = faults.slice(index + 1).filter((fault) => fault.rank > first.rank && !undoes(fault));
    const answers = await Promise.all(later.map((second) => ask(first.apply(second.apply(plain)))));
    for (const [at, answer] of answers.entries()) {
      expectError(answer, 400, first.error, `${first.name} + ${later[at]?.name}`);
    }
  }
});

test('the body is JSON whatever Accept says [R1.10 R1.11]', async () => {
  for (const accept of ['text/html', 'text/html;q=1, application/json;q=0', 'image/png', '*/*']) {
    for (const fault of faults.slice(3))
      expectError(await ask(fault.apply(plain), { accept }), 400, fault.error);
  }
});

test('unknown parameters are ignored, repeated ones too [R1.9]', async () => {
  const answer = await ask([
    ...plain,
    ['prompt', 'none'],
    ['colour', 'red'],
    ['colour', 'blue'],
    ['iss', 'x'],
  ]);
  expect(answer.headers.location).toMatch(/error=login_required/);
});

test('an empty optional parameter counts as absent [R1.8 R3.5]', async () => {
  const empty = [
    'state',
    'nonce',
    'code_challenge',
    'code_challenge_method',
    'max_age',
    'request',
    'request_uri',
  ];
  const blank = empty.map((name): [string, string] => [name, '']);
  const answer = await ask([...drop('state')(plain), ...blank, ['prompt', 'none']]);
  expect(answer.headers.location).toBe(`${full.redirectUris[0]}?error=login_required`);
});

test('a scope that this partner is not approved for is invalid_scope [S5.flow.1 R1.5 S5.scope.1]', async () => {
  const narrow = stack.partners.filter((partner) => partner.active && partner.scopes.length < 3);
  for (const partner of orNone(narrow, 'active partner with fewer than all scopes')) {
    const url = authorizeUrl(oidc.authorization_endpoint, partner, { scope: 'openid email profile' });
    expectError(await send(url), 400, 'invalid_scope', partner.name);
  }
});

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
