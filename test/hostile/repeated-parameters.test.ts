// Every known parameter given twice is refused, wherever it comes in; the first value never wins quietly.
import { beforeAll, describe, expect, test } from 'vitest';
import { basic, type Discovery, discover } from '../support/flow.ts';
import { formEncoded, sendUntilServed as send } from '../support/http.ts';
import { runningStack } from '../support/running-stack.ts';
import { partnerFor } from '../support/stack-file.ts';

const stack = runningStack();
const partner = partnerFor(stack, 'openid', 'email', 'profile');
let discovery: Discovery;
beforeAll(async () => {
  discovery = await discover(stack.issuer);
});

const authorizationParameters: readonly (readonly [string, string])[] = [
  ['response_type', 'code'],
  ['client_id', partner.clientId],
  ['redirect_uri', partner.redirectUris[0]],
  ['scope', 'openid'],
  ['state', 's'],
  ['nonce', 'n'],
  ['code_challenge', 'a'.repeat(43)],
  ['code_challenge_method', 'S256'],
  ['prompt', 'login'],
  ['max_age', '10'],
  ['login_hint', 'a@example.org'],
  ['id_token_hint', 'x'],
  ['ui_locales', 'de'],
];

const tokenParameters: readonly (readonly [string, string])[] = [
  ['grant_type', 'authorization_code'],
  ['code', 'c'],
  ['redirect_uri', partner.redirectUris[0]],
  ['code_verifier', 'v'.repeat(43)],
  ['refresh_token', 'r'],
  ['scope', 'openid'],
  ['client_id', partner.clientId],
];

describe.each(authorizationParameters)('authorization parameter %s given twice', (name, value) => {
  for (const second of [value, 'another']) {
    test(`is invalid_request by GET and by POST when the second is "${second === value ? 'the same' : second}" [R1.2]`, async () => {
      const fields = [...authorizationParameters, [name, second] as const];
      const answers = [
        await send(`${discovery.authorization_endpoint}?${formEncoded(fields)}`),
        await send(discovery.authorization_endpoint, { form: fields }),
      ];
      for (const answer of answers)
        expect([answer.status, answer.text]).toEqual([400, '{"error":"invalid_request"}']);
    });
  }
});

describe.each(tokenParameters)('token parameter %s given twice', (name, value) => {
  test('is invalid_request [R7.5]', async () => {
    const form = [
      ['grant_type', 'authorization_code'] as const,
      [name, value] as const,
      [name, value] as const,
    ];
    const answer = await send(discovery.token_endpoint, { form, headers: basic(partner) });
    expect([answer.status, answer.text]).toEqual([400, '{"error":"invalid_request"}']);
  });
});

test('an unknown parameter given twice is ignored [R1.9]', async () => {
  const plain = authorizationParameters.filter(([name]) => name !== 'id_token_hint');
  const fields = [...plain, ['utm', '1'] as const, ['utm', '2'] as const];
  const answer = await send(`${discovery.authorization_endpoint}?${formEncoded(fields)}`);
  expect(answer.status).toBe(200);
});
