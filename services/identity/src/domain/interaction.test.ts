import { describe, expect, it } from 'vitest';
import { type AuthorizationRequest, acceptsSession, authTimeClaim } from './authorization-request.ts';
import {
  accountFormToken,
  type Binding,
  deriveCode,
  formToken,
  isAboutAccount,
  isFormToken,
} from './binding.ts';
import { sessionTimeLeft } from './browser-session.ts';
import type { ClientId, Sub } from './ids.ts';
import { type Interaction, isExpired, isOwner, isOwnForm, isRepeatable, stepOf } from './interaction.ts';
import type { Prompt } from './prompt.ts';
import { hashSecret } from './secrets.ts';
import { parseToken } from './token-string.ts';

const ada = 'ada' as Sub;
const minute = 60_000;
const binding = 'b'.repeat(43) as Binding;
const request: AuthorizationRequest = {
  clientId: 'partner' as ClientId,
  redirectUri: 'https://partner.example/callback',
  scopes: ['openid', 'email'],
  ...{ state: 's', nonce: '', prompts: [], loginHint: '', uiLocales: '' },
};
const interaction: Interaction = { id: 'i', bindingHash: hashSecret(binding), createdAt: 0, request };

function asking(...prompts: Prompt[]): Interaction {
  return { ...interaction, request: { ...request, prompts } };
}
const bySession = { sub: ada, authTime: 0, origin: 'session' } as const;
const byLogin = { sub: ada, authTime: 0, origin: 'login' } as const;

describe('the step of a transaction', () => {
  it('is the login form while nobody is known', () => {
    expect(stepOf(interaction, ['openid', 'email'])).toBe('login');
  });

  it('is the consent page for a scope not granted yet, and only then (R6)', () => {
    const known = { ...interaction, subject: bySession };
    expect(stepOf(known, [])).toBe('consent');
    expect(stepOf(known, ['openid'])).toBe('consent');
    expect(stepOf(known, ['openid', 'email', 'profile'])).toBe('decide');
  });

  it('is the consent page under prompt=consent, whatever was granted (R5, R6)', () => {
    expect(stepOf({ ...asking('consent'), subject: bySession }, ['openid', 'email'])).toBe('consent');
  });

  it('is the account page under select_account, until confirmed or a login answers it (R5)', () => {
    const selecting = asking('select_account');
    expect(stepOf({ ...selecting, subject: bySession }, ['openid', 'email'])).toBe('account');
    expect(stepOf({ ...selecting, subject: byLogin }, ['openid', 'email'])).toBe('decide');
    const confirmed = { ...selecting, subject: bySession, accountConfirmed: true };
    expect(stepOf(confirmed, ['openid', 'email'])).toBe('decide');
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

  it('and auth_time is told only where max_age asked (R5)', () => {
    expect(authTimeClaim(request, 1_999)).toBeUndefined();
    expect(authTimeClaim({ ...request, maxAge: 0 }, 1_999)).toBe(1);
  });
});

describe('times of a transaction (R6)', () => {
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

it('a browser session ends 1 h after its last use and 8 h after the login (R29)', () => {
  const hour = 60 * minute;
  const session = { sub: ada, authTime: 0, lastUsed: 2 * hour };
  expect(sessionTimeLeft(session, 2 * hour)).toBe(hour);
  expect(sessionTimeLeft(session, 3 * hour)).toBe(0);
  expect(sessionTimeLeft({ ...session, lastUsed: 7.5 * hour }, 7.5 * hour)).toBe(hour / 2);
  expect(sessionTimeLeft({ ...session, lastUsed: 8 * hour }, 9 * hour)).toBe(0);
});

describe('what follows from a binding', () => {
  it('is one code, always the same, of which the store sees a hash (R6, R18)', () => {
    const derived = deriveCode(binding);
    expect(derived).toEqual(deriveCode(binding));
    expect(derived.code).toMatch(/^[A-Za-z0-9_-]{65}$/);
    expect(parseToken(derived.code)).toEqual({ family: derived.family, hash: derived.hash });
    expect(deriveCode('c'.repeat(43) as Binding).code).not.toBe(derived.code);
  });

  it('is a form token for each kind of form', () => {
    const token = formToken(binding, 'form');
    expect(isFormToken(token, binding, 'form')).toBe(true);
    expect(isFormToken(token, binding, 'sign-out')).toBe(false);
    expect(isFormToken('', binding, 'form')).toBe(false);
    expect(isOwnForm(interaction, binding, token)).toBe(true);
    expect(isOwnForm(interaction, 'x', formToken('x', 'form'))).toBe(false);
    expect(isOwner(interaction, '')).toBe(false);
  });

  it('is a form token for each account that a page shows', () => {
    const [anna, ben] = ['anna' as Sub, 'ben' as Sub];
    const token = accountFormToken(binding, anna);
    expect(isOwnForm(interaction, binding, token)).toBe(true);
    expect(isAboutAccount(token, binding, anna)).toBe(true);
    expect(isAboutAccount(token, binding, ben)).toBe(false);
    expect(isAboutAccount(`${formToken(binding, 'form')}.`, binding, ben)).toBe(false);
    expect(isAboutAccount(formToken(binding, 'form'), binding, ben)).toBe(true);
  });
});
