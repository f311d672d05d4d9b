// PKCE is optional, but binding once used.
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { authorizeUrl, pkce } from '../support/flow.ts';
import { send } from '../support/http.ts';
import { exchange, full, grant, oidc } from './deployment.ts';
import { expectError } from './expectations.ts';

const good = pkce();
const noPkce = { code_challenge: undefined, code_challenge_method: undefined };

test('a flow without PKCE, state and nonce works [R2.1 S5.enforce.1]', async () => {
  const given = await grant({ parameters: { ...noPkce, state: undefined, nonce: undefined } });
  expect((await exchange(given, { code_verifier: undefined })).status).toBe(200);
});

test('plain works, with the method named or not [R2.2 S5.enforce.2 S4.token.4]', async () => {
  const verifier = `${randomBytes(40).toString('base64url')}.~`;
  for (const code_challenge_method of ['plain', undefined, '']) {
    const given = await grant({ parameters: { code_challenge: verifier, code_challenge_method } });
    expectError(await exchange(given, { code_verifier: good.verifier }), 400, 'invalid_grant');
    expect((await exchange(given, { code_verifier: verifier })).status).toBe(200);
  }
});

describe('the authorization endpoint refuses a bad combination [R2.3 R1.7 S7.code.4]', () => {
  test.each([
    ['method without challenge', { code_challenge_method: 'S256' }],
    ['unknown method', { code_challenge: good.challenge, code_challenge_method: 'S512' }],
    ['method in another case', { code_challenge: good.challenge, code_challenge_method: 's256' }],
    ['42 characters', { code_challenge: 'a'.repeat(42) }],
    ['129 characters', { code_challenge: 'a'.repeat(129) }],
    ['a reserved character', { code_challenge: `${'a'.repeat(43)}+` }],
    ['not ASCII', { code_challenge: `${'a'.repeat(43)}ä` }],
  ])('%s', async (_, parameters) => {
    expectError(
      await send(authorizeUrl(oidc.authorization_endpoint, full, parameters)),
      400,
      'invalid_request',
    );
  });
});

test('43 and 128 characters are a challenge [R2.3]', async () => {
  for (const length of [43, 128]) {
    const parameters = { code_challenge: '~'.repeat(length), prompt: 'none' };
    expect((await send(authorizeUrl(oidc.authorization_endpoint, full, parameters))).status).toBe(303);
  }
});

describe('the token endpoint: what fails consumes nothing [R2.4 R2.5 R2.6 R9.1]', () => {
  test.each([
    ['a missing verifier', { code_verifier: undefined }, 'invalid_request'],
    ['an empty verifier', { code_verifier: '' }, 'invalid_request'],
    ['a malformed verifier', { code_verifier: `${'a'.repeat(50)}!` }, 'invalid_request'],
    ['another verifier', { code_verifier: 'a'.repeat(43) }, 'invalid_grant'],
  ])('%s', async (_, overrides, error) => {
    const given = await grant();
    expectError(await exchange(given, overrides), 400, error);
    expect((await exchange(given)).status).toBe(200);
  });

  test('the code’s own challenge as verifier', async () => {
    const { verifier, challenge } = pkce();
    const parameters = { code_challenge: challenge, code_challenge_method: 'S256' };
    const given = await grant({ parameters });
    expectError(await exchange(given, { code_verifier: challenge }), 400, 'invalid_grant');
    expect((await exchange(given, { code_verifier: verifier })).status).toBe(200);
  });

  test('a verifier where no challenge was given', async () => {
    const given = await grant({ parameters: noPkce });
    expectError(await exchange(given, { code_verifier: good.verifier }), 400, 'invalid_request');
    expect((await exchange(given)).status).toBe(200);
  });
});
