import { describe, expect, it } from 'vitest';
import type { AuthorizationParameters } from '../../domain/authorization-parameters.ts';
import type { ClientId, Sub } from '../../domain/ids.ts';
import type { Client } from '../../store/postgres/clients.ts';
import { checkDirectly } from './direct-checks.ts';
import { checkRedirected } from './redirected-checks.ts';

const redirectUri = 'https://partner.example/callback';
const client: Client = {
  clientId: 'partner' as ClientId,
  name: 'Partner',
  active: true,
  scopes: ['openid', 'email'],
  redirectUris: [redirectUri],
};
const good: AuthorizationParameters = {
  ...{
    responseType: 'code',
    clientId: 'partner',
    redirectUri,
    scope: 'openid email',
    state: 's',
    nonce: 'n',
  },
  ...{ codeChallenge: '', codeChallengeMethod: '', prompt: '', maxAge: '', loginHint: '', idTokenHint: '' },
  ...{ uiLocales: '', request: '', requestUri: '', responseMode: '' },
};
type Changes = Partial<AuthorizationParameters>;

const findClient = async (id: string) => {
  if (id === 'partner') return client;
  return id === 'inactive' ? { ...client, active: false } : undefined;
};
const readIdTokenHint = (hint: string) => (hint === 'good' ? ('ada' as Sub) : undefined);

const check = (changes: Changes, repeated: string[] = []) =>
  checkDirectly({ findClient }, { ...good, ...changes }, repeated);

describe('direct refusals (R1, R2)', () => {
  const mistakes: readonly [string, Changes, string][] = [
    ['client missing', { clientId: '' }, 'invalid_client'],
    ['client unknown', { clientId: 'nobody' }, 'invalid_client'],
    ['client inactive', { clientId: 'inactive' }, 'invalid_client'],
    ['redirect URI missing', { redirectUri: '' }, 'invalid_redirect_uri'],
    ['redirect URI not registered', { redirectUri: `${redirectUri}/` }, 'invalid_redirect_uri'],
    ['scope empty', { scope: ' ' }, 'invalid_scope'],
    ['scope not approved', { scope: 'openid profile' }, 'invalid_scope'],
    ['scope unknown', { scope: 'openid offline_access' }, 'invalid_scope'],
    ['response type missing', { responseType: '' }, 'invalid_request'],
    ['response type other than code', { responseType: 'code id_token' }, 'unsupported_response_type'],
    ['method without challenge', { codeChallengeMethod: 'S256' }, 'invalid_request'],
    ['malformed challenge', { codeChallenge: 'short' }, 'invalid_request'],
  ];

  it.each(mistakes)('%s', async (_, changes, code) => {
    await expect(check(changes)).rejects.toMatchObject({ code });
  });

  it('of two mistakes the one that comes first in R1 is told', async () => {
    for (const [index, [, first, code]] of mistakes.entries())
      for (const [, later] of mistakes.slice(index + 1))
        await expect(check({ ...later, ...first })).rejects.toMatchObject({ code });
  });

  it('a known parameter that came twice is told before everything, an unknown one never', async () => {
    const { code } = { code: 'invalid_request' };
    await expect(check({ clientId: '' }, ['state'])).rejects.toMatchObject({ code });
    await expect(check({}, ['utm_source'])).resolves.toMatchObject({ redirectUri });
  });

  it('a challenge without a method means plain', async () => {
    const challenge = 'c'.repeat(43);
    expect((await check({ codeChallenge: challenge })).pkce).toEqual({ challenge, method: 'plain' });
  });
});

describe('errors by redirect (R5)', () => {
  const checked = async (changes: Changes) =>
    checkRedirected({ readIdTokenHint }, { ...good, ...changes }, await check({}));

  it.each<[Changes, string]>([
    [{ request: 'jwt', prompt: 'odd' }, 'request_not_supported'],
    [{ requestUri: 'https://x' }, 'request_uri_not_supported'],
    [{ responseMode: 'fragment' }, 'invalid_request'],
    [{ prompt: 'none login' }, 'invalid_request'],
    [{ maxAge: '-1' }, 'invalid_request'],
    [{ idTokenHint: 'forged' }, 'invalid_request'],
  ])('%j is %s', async (changes, error) => {
    expect(await checked(changes)).toBe(error);
  });

  it('a good request is remembered with what it asked', async () => {
    const asked = { responseMode: 'query', prompt: 'consent', maxAge: '60', idTokenHint: 'good' };
    expect(await checked(asked)).toEqual({
      ...{ clientId: 'partner', redirectUri, scopes: ['openid', 'email'], state: 's', nonce: 'n' },
      ...{ pkce: undefined, prompts: ['consent'], maxAge: 60, loginHint: '', uiLocales: '' },
      hintedSub: 'ada',
    });
  });
});
