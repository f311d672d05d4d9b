import { describe, expect, it } from 'vitest';
import type { ClientId, ConsentId, Sub } from '../ids.ts';
import { hashSecret, parseToken } from '../secrets.ts';
import {
  accountFormToken,
  answers,
  deriveCode,
  type Event,
  formToken,
  type Interaction,
  type InteractionCookie,
  isAboutAccount,
  isFormToken,
  isOwner,
  isOwnForm,
  pageOf,
  type Subject,
  step,
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

describe('an interaction', () => {
  const by = (sub: string, origin: Subject['origin'] = 'session') => {
    const subject: Subject = { sub: sub as Sub, authTime: 0, origin };
    return { subject, holder: { sub: subject.sub } };
  };
  const [asAda, asBob] = [by('ada'), by('bob')];
  const consentId = 'c' as ConsentId;
  const asked = { approved: request.scopes, consent: undefined, at: 7 };
  const granted = { ...asked, consent: { consentId, scopes: request.scopes } };
  const [someGranted, lost] = [{ consentId, scopes: ['openid'] as const }, ['openid'] as const];
  const withRequest = (parts: Partial<AuthorizationRequest>, of = interaction) => ({
    ...of,
    request: { ...request, ...parts },
  });
  const consent: Interaction = { ...interaction, ...asAda };
  const account = withRequest({ prompts: ['select_account'] }, consent);
  const denied: Event = { kind: 'denied', at: 7 };
  const login: Event = { kind: 'logged_in', ...asked, ...asAda };
  const confirmed: Event = { kind: 'account_confirmed', ...asked, subject: asAda.subject };
  const allowed: Event = {
    kind: 'allowed',
    subject: asAda.subject,
    approved: request.scopes,
    consentId,
    at: 7,
  };
  const stateOf = (of: Interaction) => {
    const { decision } = of;
    if (decision === undefined) return pageOf(of);
    return decision.kind === 'refused' ? decision.error : `code for ${decision.subject.sub}`;
  };

  it.each<[string, Interaction, Event, string]>([
    ['login: logged in', interaction, login, 'consent'],
    ['login: logged in, some granted', interaction, { ...login, consent: someGranted }, 'consent'],
    ['login: logged in, all granted (R6.2)', interaction, { ...login, ...granted }, 'code for ada'],
    [
      'login: prompt=consent, all granted',
      withRequest({ prompts: ['consent'] }),
      { ...login, ...granted },
      'consent',
    ],
    [
      'login: another one hinted at (R5.19)',
      withRequest({ hintedSub: 'bob' as Sub }),
      login,
      'login_required',
    ],
    ['login: a scope was lost (R6.5)', interaction, { ...login, approved: lost }, 'invalid_scope'],
    ['login: denied', interaction, denied, 'access_denied'],
    ['account: confirmed', account, confirmed, 'consent'],
    ['account: confirmed, all granted', account, { ...confirmed, ...granted }, 'code for ada'],
    ['account: confirmed in an older tab', account, { ...confirmed, subject: asBob.subject }, 'account'],
    ['account: allowed in an older tab', account, allowed, 'account'],
    ['account: another account', account, { kind: 'another_account' }, 'login'],
    ['account: logged in', account, { ...login, ...by('ada', 'login') }, 'consent'],
    ['consent: allowed', consent, allowed, 'code for ada'],
    ['consent: allowed, a scope was lost (R6.5)', consent, { ...allowed, approved: lost }, 'invalid_scope'],
    ['consent: allowed by another user', consent, { ...allowed, subject: asBob.subject }, 'consent'],
    ['consent: logged in as another user', consent, { ...login, ...asBob, ...granted }, 'code for bob'],
    ['consent: denied', consent, denied, 'access_denied'],
  ])('%s', (_name, before, event, after) => {
    expect(stateOf(step(before, event))).toBe(after);
  });

  const events: readonly Event[] = [login, confirmed, allowed, denied, { kind: 'another_account' }];

  it('keeps its first decision', () => {
    for (const first of [allowed, denied])
      for (const event of events) {
        const decided = step(consent, first);
        expect(step(decided, event)).toBe(decided);
      }
  });

  it.each<[string, Interaction, string]>([
    ['the code of the user', step(consent, allowed), 'logged_in account_confirmed allowed'],
    ['the code of another user', step(consent, { ...login, ...asBob, ...granted }), ''],
    ['a denial', step(consent, denied), 'denied'],
    [
      'a refusal nobody asked for',
      step(consent, { ...allowed, approved: lost }),
      'logged_in account_confirmed allowed',
    ],
  ])('answers with %s whoever asked for it (R6.7)', (_name, { decision }, asking) => {
    const kinds = events.filter((event) => decision && answers(decision, event)).map(({ kind }) => kind);
    expect(kinds.join(' ')).toBe(asking);
  });
});

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
