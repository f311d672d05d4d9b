import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Client } from '../clients/client.ts';
import type { ClientId, Sub } from '../ids.ts';
import { refusalCodes } from '../refusals/reasons.ts';
import {
  type AuthorizationParameters,
  checkDirectly,
  checkRedirected,
  checkRepetition,
  parseMaxAge,
  parsePrompt,
  prompts,
} from './request.ts';
import { codeRedirect, type RedirectReason } from './response.ts';

const redirectUri = 'https://partner.example/callback';
const client: Client = {
  clientId: 'partner' as ClientId,
  name: 'Partner',
  active: true,
  scopes: ['openid', 'email'],
  redirectUris: [redirectUri],
};
const good: AuthorizationParameters = {
  responseType: 'code',
  clientId: 'partner',
  redirectUri,
  scope: 'openid email',
  state: 's',
  nonce: 'n',
  codeChallenge: '',
  codeChallengeMethod: '',
  prompt: '',
  maxAge: '',
  loginHint: '',
  idTokenHint: '',
  uiLocales: '',
  request: '',
  requestUri: '',
  responseMode: '',
};
type Changes = Partial<AuthorizationParameters>;

const readHint = async (hint: string) => (hint === 'good' ? ('ada' as Sub) : undefined);

describe('errors by redirect (R5.7, R5.11, R5.18)', () => {
  const checked = async (changes: Changes) =>
    checkRedirected({ ...good, ...changes }, checkDirectly(good, client), readHint);

  it.each<[Changes, string, RedirectReason]>([
    [{ request: 'jwt', prompt: 'odd' }, 'request_not_supported', 'request'],
    [{ requestUri: 'https://x' }, 'request_uri_not_supported', 'request_uri'],
    [{ responseMode: 'fragment' }, 'invalid_request', 'response_mode'],
    [{ prompt: 'none login' }, 'invalid_request', 'prompt'],
    [{ maxAge: '-1' }, 'invalid_request', 'max_age'],
    [{ idTokenHint: 'forged' }, 'invalid_request', 'id_token_hint_refused'],
  ])('%j is %s', async (changes, error, reason) => {
    expect(await checked(changes)).toBe(reason);
    expect(refusalCodes.authorization[reason]).toBe(error);
  });

  it('a login_hint over 254 bytes and ui_locales over 100 are ignored [R3.7]', async () => {
    const longest = { loginHint: 'é'.repeat(127), uiLocales: 'd'.repeat(100) };
    expect(await checked(longest)).toMatchObject(longest);
    const longer = { loginHint: `${longest.loginHint}x`, uiLocales: `${longest.uiLocales}e` };
    expect(await checked(longer)).toMatchObject({ loginHint: '', uiLocales: '' });
  });

  it('a good request is remembered with what it asked', async () => {
    const asked = { responseMode: 'query', prompt: 'consent', maxAge: '60', idTokenHint: 'good' };
    expect(await checked(asked)).toEqual({
      clientId: 'partner',
      redirectUri,
      scopes: ['openid', 'email'],
      state: 's',
      nonce: 'n',
      pkce: undefined,
      prompts: ['consent'],
      maxAge: 60,
      loginHint: '',
      uiLocales: '',
      hintedSub: 'ada',
    });
  });
});

describe('repeated parameters (R1.2, R1.9)', () => {
  it.each(['state', 'claims', 'code_challenge_method', 'response_mode'])('%s must not come twice', (name) => {
    expect(() => checkRepetition(['foo', name])).toThrow();
  });

  it('an unknown parameter may', () => {
    expect(() => checkRepetition(['foo', 'State', 'state[]', ''])).not.toThrow();
    expect(() => checkRepetition([])).not.toThrow();
  });
});

describe('prompt (R5.5)', () => {
  it('is a list of words, each counted once', () => {
    expect(parsePrompt('')).toEqual([]);
    expect(parsePrompt('login consent login')).toEqual(['login', 'consent']);
    expect(parsePrompt('  select_account ')).toEqual(['select_account']);
    expect(parsePrompt('none')).toEqual(['none']);
  });

  it.each(['none login', 'consent none', 'Login', 'create', 'login,consent', 'login\tconsent', 'login\0'])(
    '%j is malformed',
    (text) => {
      expect(parsePrompt(text)).toBeUndefined();
    },
  );

  it('any words: read as prompts, or refused', () => {
    const words = fc.array(fc.oneof(fc.constantFrom(...prompts), fc.string()));
    fc.assert(
      fc.property(words, (list) => {
        const parsed = parsePrompt(list.join(' '));
        if (parsed === undefined) return;
        expect(parsed.every((prompt) => prompts.includes(prompt))).toBe(true);
        expect(new Set(parsed).size).toBe(parsed.length);
        expect(parsed.includes('none') && parsed.length > 1).toBe(false);
      }),
    );
  });
});

describe('max_age (R5.7)', () => {
  it('is a whole number of seconds', () => {
    expect(parseMaxAge('')).toBeUndefined();
    expect(parseMaxAge('0')).toBe(0);
    expect(parseMaxAge('0090')).toBe(90);
    expect(parseMaxAge('9'.repeat(400))).toBe(Number.MAX_SAFE_INTEGER);
  });

  it.each(['-1', '+1', '1.5', '1e3', ' 1', '1 ', '0x10', 'ten', '١'])('%j is malformed', (text) => {
    expect(parseMaxAge(text)).toBe('malformed');
  });

  it('any text: a number that can be counted, nothing, or malformed', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.nat().map(String)), (text) => {
        const maxAge = parseMaxAge(text);
        if (typeof maxAge === 'number') expect(Number.isSafeInteger(maxAge) && maxAge >= 0).toBe(true);
        else expect(maxAge).toBe(text === '' ? undefined : 'malformed');
      }),
    );
  });
});

it('an answer is appended to the registered text, unchanged (R3.3)', () => {
  expect(
    codeRedirect({ redirectUri: 'https://Partner.example/Call%62ack', state: 'a b+c&d=é' }, 'family.secret')
      .location,
  ).toBe('https://Partner.example/Call%62ack?code=family.secret&state=a+b%2Bc%26d%3D%C3%A9');
});
