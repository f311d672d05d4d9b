import { describe, expect, it } from 'vitest';
import type { ClientId, Sub } from '../ids.ts';
import { hashSecret, parseToken } from '../secrets.ts';
import {
  accountFormToken,
  deriveCode,
  formToken,
  type Interaction,
  type InteractionCookie,
  isAboutAccount,
  isFormToken,
  isOwner,
  isOwnForm,
} from './interaction.ts';
import { type AuthorizationRequest, acceptsSession, authTimeClaim } from './request.ts';

const ada = 'ada' as Sub;
const cookie = 'b'.repeat(43) as InteractionCookie;
const request: AuthorizationRequest = {
  clientId: 'partner' as ClientId,
  redirectUri: 'https://partner.example/callback',
  scopes: ['openid', 'email'],
  state: 's',
  nonce: '',
  prompts: [],
  loginHint: '',
  uiLocales: '',
};
const interaction: Interaction = { id: 'i', cookieHash: hashSecret(cookie), createdAt: 0, request };

describe('a session is accepted without a login form', () => {
  const session = { sub: ada, authTime: 100_000, lastUsed: 100_000 };
  const accepts = (parts: Partial<AuthorizationRequest>, now: number) =>
    acceptsSession({ ...request, ...parts }, session, now);

  it('but not under prompt=login, nor when hinted at somebody else (R5.3, R5.10)', () => {
    expect(accepts({}, 200_000)).toBe(true);
    expect(accepts({ prompts: ['login'] }, 200_000)).toBe(false);
    expect(accepts({ hintedSub: ada }, 200_000)).toBe(true);
    expect(accepts({ hintedSub: 'bob' as Sub }, 200_000)).toBe(false);
  });

  it('only while younger than max_age; max_age=0 always asks', () => {
    expect(accepts({ maxAge: 10 }, 109_999)).toBe(true);
    expect(accepts({ maxAge: 10 }, 110_000)).toBe(false);
    expect(accepts({ maxAge: 0 }, 100_000)).toBe(false);
  });

  it('and auth_time is sent only if max_age was (R5.6)', () => {
    expect(authTimeClaim(request, 1_999)).toBeUndefined();
    expect(authTimeClaim({ ...request, maxAge: 0 }, 1_999)).toBe(1);
  });
});

describe('values derived from an interaction cookie', () => {
  it('is one code, always the same, of which the store sees a hash (R6.7, R18.2)', () => {
    const derived = deriveCode(cookie);
    expect(derived).toEqual(deriveCode(cookie));
    expect(derived.code).toMatch(/^[A-Za-z0-9_-]{65}$/);
    expect(parseToken(derived.code)).toEqual({ familyId: derived.familyId, hash: derived.hash });
    expect(deriveCode('c'.repeat(43) as InteractionCookie).code).not.toBe(derived.code);
  });

  it('is a form token for each kind of form', () => {
    const token = formToken(cookie, 'form');
    expect(isFormToken(token, cookie, 'form')).toBe(true);
    expect(isFormToken(token, cookie, 'sign-out')).toBe(false);
    expect(isFormToken('', cookie, 'form')).toBe(false);
    expect(isOwnForm(interaction, cookie, token)).toBe(true);
    expect(isOwnForm(interaction, 'x', formToken('x', 'form'))).toBe(false);
    expect(isOwner(interaction, '')).toBe(false);
  });

  it('is a form token for each account that a page shows', () => {
    const [anna, ben] = ['anna' as Sub, 'ben' as Sub];
    const token = accountFormToken(cookie, anna);
    expect(isOwnForm(interaction, cookie, token)).toBe(true);
    expect(isAboutAccount(token, cookie, anna)).toBe(true);
    expect(isAboutAccount(token, cookie, ben)).toBe(false);
    expect(isAboutAccount(`${formToken(cookie, 'form')}.`, cookie, ben)).toBe(false);
    expect(isAboutAccount(formToken(cookie, 'form'), cookie, anna)).toBe(false);
  });
});
