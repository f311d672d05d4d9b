// Statuses, headers and order of the token endpoint.
import { describe, expect, test } from 'vitest';
import { basic } from '../support/flow.ts';
import { type Answer, type Fields, formEncoded, send } from '../support/http.ts';
import { exchange, full, grant, inactivePartner, oidc, tokensFor, twinPartner } from './deployment.ts';
import { expectError } from './expectations.ts';

const endpoint = oidc.token_endpoint;
const form = { grant_type: 'refresh_token', refresh_token: 'none.such' };
const post = { client_id: full.clientId, client_secret: full.clientSecret };

function ask(fields: Fields, headers: Record<string, string> = basic(full)): Promise<Answer> {
  return send(endpoint, { form: fields, headers });
}

test('success: the documented members, no-store and no-cache [R18.1 S4.token.6 S4.token.8 S3.code.3 S8.4 S4.token.1]', async () => {
  const answer = await exchange(await grant());
  expect(answer.status).toBe(200);
  const { access_token, refresh_token, id_token, ...rest } = answer.json();
  expect(rest).toEqual({ token_type: 'Bearer', expires_in: 900, scope: full.scopes.join(' ') });
  for (const token of [access_token, id_token]) expect(token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
  expect(refresh_token).toMatch(/^[A-Za-z0-9_-]+$/);
  expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' });
  expect(answer.headers['content-type']).toMatch(/^application\/json/);
});

function expectUnauthenticated(answer: Answer): void {
  expectError(answer, 401, 'invalid_client');
  expect(answer.headers['www-authenticate']).toMatch(/^Basic\b/);
  expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' });
}

describe('a client that is not authenticated: 401 with WWW-Authenticate: Basic [R7.1 R7.3 R7.9 S7.code.1 S1.5]', () => {
  const wrong = (value: string) => ({ authorization: `Basic ${Buffer.from(value).toString('base64')}` });
  test.each<[string, Record<string, string>, Fields]>([
    ['no credentials', {}, form],
    ['client id alone', {}, { ...form, client_id: full.clientId }],
    ['empty secret', {}, { ...form, ...post, client_secret: '' }],
    ['unknown client', wrong('nobody:secret'), form],
    ['wrong secret', wrong(`${full.clientId}:wrong`), form],
    ['wrong secret in the body', {}, { ...form, ...post, client_secret: 'wrong' }],
    ['not base64', { authorization: 'Basic ***' }, form],
    ['another scheme', { authorization: `Bearer ${full.clientSecret}` }, form],
  ])('%s', async (_, headers, fields) => expectUnauthenticated(await ask(fields, headers)));

  test('another client’s secret', async () =>
    expectUnauthenticated(await ask(form, wrong(`${full.clientId}:${twinPartner().clientSecret}`))));

  test('inactive client', async () => expectUnauthenticated(await ask(form, basic(inactivePartner()))));
});

describe('every other fault is 400 with one field, not to be stored [R7.2 R7.3 R7.4 R7.5 R7.8 S7.code.4 S7.code.6 S7.code.8]', () => {
  test.each<[string, string, Fields, Record<string, string>?]>([
    ['unsupported grant', 'unsupported_grant_type', { grant_type: 'password' }],
    ['no grant type', 'invalid_request', {}],
    ['no refresh token', 'invalid_request', { grant_type: 'refresh_token' }],
    ['no code', 'invalid_request', { grant_type: 'authorization_code', redirect_uri: 'x' }],
    ['empty code', 'invalid_request', { grant_type: 'authorization_code', redirect_uri: 'x', code: '' }],
    ['no redirect URI', 'invalid_request', { grant_type: 'authorization_code', code: 'x.y' }],
    ['unknown code', 'invalid_grant', { grant_type: 'authorization_code', code: 'x.y', redirect_uri: 'x' }],
    ['unknown refresh token', 'invalid_grant', form],
    ['malformed refresh token', 'invalid_grant', { ...form, refresh_token: '\u0000{}:*' }],
    ['repeated parameter', 'invalid_request', [...Object.entries(form), ['refresh_token', 'other']]],
    ['two methods at once', 'invalid_request', { ...form, ...post }],
  ])('%s', async (_, error, fields, headers = basic(full)) => {
    const answer = await ask(fields, headers);
    expectError(answer, 400, error);
    expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' });
  });

  test('another client_id beside Basic', async () => {
    const answer = await ask({ ...form, client_id: twinPartner().clientId });
    expectError(answer, 400, 'invalid_request');
  });

  test.each([
    ['application/json', JSON.stringify({ ...form, ...post })],
    ['', formEncoded(form)],
  ])('content type %j', async (type, body) => {
    const headers = { ...basic(full), ...(type === '' ? {} : { 'content-type': type }) };
    expectError(await send(endpoint, { method: 'POST', headers, body }), 400, 'invalid_request');
  });
});

test('client_secret_basic and client_secret_post both work [S4.token.2 S4.token.3 R7.8]', async () => {
  expect((await exchange(await grant(), { client_id: full.clientId })).status).toBe(200);
  const { code, redirectUri, verifier } = await grant();
  const given = {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    code_verifier: verifier,
  };
  expect((await ask({ ...given, ...post }, {})).status).toBe(200);
});

test('Basic credentials are split at the first colon and form-decoded each [R7.7]', async () => {
  const encode = (text: string) => [...text].map((c) => `%${c.charCodeAt(0).toString(16)}`).join('');
  const every = `Basic ${Buffer.from(`${encode(full.clientId)}:${encode(full.clientSecret)}`).toString('base64')}`;
  expectError(await ask(form, { authorization: every }), 400, 'invalid_grant');
  expectError(await ask(form, { authorization: every.replace('Basic', 'bAsIc') }), 400, 'invalid_grant');
  const more = Buffer.from(`${full.clientId}:${full.clientSecret}:`).toString('base64');
  expectError(await ask(form, { authorization: `Basic ${more}` }), 401, 'invalid_client');
});

test('parameters in the query string are ignored [R7.6]', async () => {
  const query = formEncoded({ ...form, ...post });
  expectError(await send(`${endpoint}?${query}`, { form: {} }), 401, 'invalid_client');
  const doubled = `${endpoint}?${formEncoded({ grant_type: 'password' })}`;
  expectError(await send(doubled, { form, headers: basic(full) }), 400, 'invalid_grant');
});

test('the order: content type, duplicates, client, grant type, parameters, grant [R8.1]', async () => {
  const wrong = basic({ ...full, clientSecret: 'wrong' });
  const headers = { ...wrong, 'content-type': 'text/plain' };
  expectError(await send(endpoint, { method: 'POST', body: 'x', headers }), 400, 'invalid_request');
  const type: Fields = [['grant_type', 'password']];
  expectError(await ask([...type, ...type], wrong), 400, 'invalid_request', 'duplicates before client');
  expectError(await ask(type, wrong), 401, 'invalid_client', 'client before grant type');
  const bare = await ask({ grant_type: 'password', refresh_token: '' });
  expectError(bare, 400, 'unsupported_grant_type', 'grant type before parameters');
  const incomplete = { grant_type: 'authorization_code', code: 'x.y' };
  expectError(await ask(incomplete, wrong), 401, 'invalid_client', 'client before parameters');
  expectError(await ask(incomplete), 400, 'invalid_request', 'parameters before grant');
});

test('an unknown parameter is ignored, repeated too [R7.5]', async () => {
  const { refresh_token } = await tokensFor();
  const fields: Fields = [
    ['grant_type', 'refresh_token'],
    ['refresh_token', refresh_token],
    ['x', '1'],
    ['x', '2'],
  ];
  expect((await ask(fields)).status).toBe(200);
});
