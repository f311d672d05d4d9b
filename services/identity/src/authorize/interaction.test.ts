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
  isExpired,
  isFormToken,
  isOwner,
  isOwnForm,
  isRepeatable,
  nextStep,
} from './interaction.ts';
import { type AuthorizationRequest, acceptsSession, authTimeClaim, type Prompt } from './request.ts';

const ada = 'ada' as Sub;
const minute = 60_000;
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

function asking(...prompts: Prompt[]): Interaction {
  return { ...interaction, request: { ...request, prompts } };
}
const bySession = { sub: ada, authTime: 0, origin: 'session' } as const;
const byLogin = { sub: ada, authTime: 0, origin: 'login' } as const;

describe('the next step of an interaction', () => {
  it('is the login form while no user is known', () => {
    expect(nextStep(interaction, ['openid', 'email'])).toBe('login');
  });

  it('is the consent page for a scope not granted yet, and only then (R6)', () => {
    const known = { ...interaction, subject: bySession };
    expect(nextStep(known, [])).toBe('consent');
    expect(nextStep(known, ['openid'])).toBe('consent');
    expect(nextStep(known, ['openid', 'email', 'profile'])).toBe('complete');
  });

  it('is the consent page under prompt=consent, whatever was granted (R5, R6)', () => {
    expect(nextStep({ ...asking('consent'), subject: bySession }, ['openid', 'email'])).toBe('consent');
  });

  it('is the account page under select_account, until confirmed or a login answers it (R5)', () => {
    const selecting = asking('select_account');
    expect(nextStep({ ...selecting, subject: bySession }, ['openid', 'email'])).toBe('account');
    expect(nextStep({ ...selecting, subject: byLogin }, ['openid', 'email'])).toBe('complete');
    const confirmed = { ...selecting, subject: bySession, accountConfirmed: true };
    expect(nextStep(confirmed, ['openid', 'email'])).toBe('complete');
  });
});

describe('a session is accepted without a login form (R5)', () => {
  const session = { sub: ada, authTime: 100_000, lastUsed: 100_000 };
  const accepts = (parts: Partial<AuthorizationRequest>, now: number) =>
    acceptsSession({ ...request, ...parts }, session, now);

  it('but not under prompt=login, nor when hinted at somebody else', () => {
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

  it('and auth_time is sent only if max_age was (R5)', () => {
    expect(authTimeClaim(request, 1_999)).toBeUndefined();
    expect(authTimeClaim({ ...request, maxAge: 0 }, 1_999)).toBe(1);
  });
});

describe('times of an interaction (R6)', () => {
  it('it is valid for 30 minutes', () => {
    expect(isExpired(interaction, 30 * minute - 1)).toBe(false);
    expect(isExpired(interaction, 30 * minute)).toBe(true);
  });

  it('its decision is repeated for 10 s', () => {
    const decision = { kind: 'refused', error: 'access_denied', at: 0 } as const;
    expect(isRepeatable(decision, 9_999)).toBe(true);
    expect(isRepeatable(decision, 10_000)).toBe(false);
  });
});

describe('what is derived from an interaction cookie', () => {
  it('is one code, always the same, of which the store sees a hash (R6, R18)', () => {
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
