import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ClientId } from '../ids.ts';
import { activationObstacle, approvalObstacles, approvalPath, withApproval } from './client.ts';
import {
  type ClientRegistration,
  redirectUriProblem,
  registrationGaps,
  registrationProblems,
} from './client-registration.ts';

const contact = (name: string, email = 'a@acme.example') => ({ name, email, phone: '' });
const uris = (test: string[], production: string[] = []) => ({ redirectUris: { test, production } });
const registration: ClientRegistration = {
  ...uris(['http://localhost:8080/cb'], ['https://acme.example/cb']),
  clientId: 'acme' as ClientId,
  name: 'Acme',
  technicalContact: contact('T'),
  credentialContacts: [contact('C')],
  scopes: ['openid'],
  userJourney: 'j',
  logoutRequirements: 'l',
  unlinkingRequirements: 'u',
  retentionRequirements: 'r',
};
const empty: ClientRegistration = {
  ...registration,
  technicalContact: contact('', ''),
  credentialContacts: [],
  userJourney: ' ',
  logoutRequirements: '',
  unlinkingRequirements: '',
  retentionRequirements: '',
};

describe('a registration (specification §1, R3.2)', () => {
  it('without a mistake may be registered, also with gaps', () => {
    expect(registrationProblems(registration, 'test')).toEqual([]);
    expect(registrationProblems({ ...registration, userJourney: 'first\n\tthen' }, 'test')).toEqual([]);
    expect(registrationProblems(empty, 'production')).toEqual([]);
    expect(registrationGaps(registration)).toEqual([]);
    expect(registrationGaps(empty)).toHaveLength(6);
  });

  it.each<[string, Partial<ClientRegistration>, RegExp]>([
    ['no URI for the own environment', uris([]), /test needs at least one redirect URI/],
    ['http in production', uris(['http://localhost/'], ['http://localhost/']), /not https/],
    ['a URI named twice', uris(['https://a.b/', 'https://a.b/']), /named twice/],
    ['the name of the resource API', { clientId: 'design-api' as ClientId }, /resource API/],
    ['a client id with a space', { clientId: 'a b' as ClientId }, /client id/],
    ['a name of control characters', { name: 'a\u0000b' }, /name/],
    ['a scope named twice', { scopes: ['openid', 'openid'] }, /twice/],
    ['a contact without address', { credentialContacts: [contact('x', '')] }, /e-mail/],
    ['a name that reverses the text around it', { name: 'Acme \u202egpj' }, /name/],
    ['a user journey with an escape', { userJourney: 'a\u001b[2Jb' }, /user journey/],
    ['a contact with a control character', { technicalContact: contact('T\u009b') }, /cannot be shown/],
    ['a joiner between letters', { logoutRequirements: 'می\u200cخواهم' }, /logout requirements/],
    [
      'an address with a joiner',
      { technicalContact: contact('T', 'a\u200d@acme.example') },
      /cannot be shown/,
    ],
    ['a line separator', { retentionRequirements: 'a\u2028b' }, /retention/],
    ['a novel', { userJourney: 'x'.repeat(4_001) }, /4000 characters/],
  ])('%s is one sentence', (_what, over, sentence) => {
    const mistakes = registrationProblems({ ...registration, ...over }, 'test');
    expect(mistakes).toHaveLength(1);
    expect(mistakes[0]).toMatch(sentence);
  });
});

const unseen =
  '\u200b \u200c \u200d \u00ad \u2060 \ufeff \u2028 \u2029 \u00a0 \u2003 \u3000 \u180e \u034f \u3164 \uffa0 \u115f \ufe0f ' +
  '\u2800 \u{e0041} \u{e0100} \ue000 \u0378 \uffff \ud800 \u061c \u2066 \u0007 \u0085 \u007f';

it.each(unseen.split(' ').map((one) => [one.codePointAt(0)?.toString(16), one]))(
  'no text has U+%s',
  (_code, one) => {
    const text = `Acme ${one} Diary`;
    for (const over of [{ name: text }, { technicalContact: contact(text) }, { userJourney: text }]) {
      expect(registrationProblems({ ...registration, ...over }, 'test')).toHaveLength(1);
      const before = { ...registration, ...over };
      // What is registered already does not stand in the way of another change.
      expect(registrationProblems({ ...before, scopes: ['email'] }, 'test', before)).toEqual([]);
      expect(
        registrationProblems({ ...before, name: `${text}s`, userJourney: `${text}s` }, 'test', before),
      ).toHaveLength(2);
    }
  },
);

it.each([
  'Größe & Söhne (EU)',
  'Конный журнал',
  'हिन्दी',
  '馬術 — 大会',
  'Café “Reiter” №1',
  'Diary 🐎',
  'a  b',
])('%j may be a name', (name) => expect(registrationProblems({ ...registration, name }, 'test')).toEqual([]));

describe('approval', () => {
  const draft = { registration, active: false, approvalState: 'draft' as const };
  const terms = { environment: 'production', volumeConfirmed: false } as const;

  it('goes up one step at a time and down as far as wanted', () => {
    expect(approvalObstacles(draft, 'test', terms)).toEqual([]);
    expect(approvalObstacles(draft, 'approved', terms)).toHaveLength(1);
    expect(approvalObstacles({ ...draft, approvalState: 'approved' }, 'draft', terms)).toEqual([]);
    expect(approvalPath('draft', 'approved')).toEqual(['test', 'approved']);
    expect(approvalPath('approved', 'draft')).toEqual(['draft']);
    expect(approvalPath('test', 'test')).toEqual([]);
  });

  it('decides where a client may be active, and ends that when it is taken back', () => {
    const tested = { ...draft, approvalState: 'test' as const, active: true };
    expect(activationObstacle(draft, 'test')).toContain(
      'is a draft. Approve it first: partnerctl client approve acme.',
    );
    expect(activationObstacle(tested, 'test')).toBeUndefined();
    expect(activationObstacle(tested, 'production')).toContain('approved for test only');
    expect(withApproval({ ...tested, approvalState: 'approved' }, 'test', 'production').active).toBe(false);
    expect(withApproval({ ...tested, approvalState: 'approved' }, 'test', 'test').active).toBe(true);
  });
});

const production = 'production';
const test = 'test';

describe('registration of a redirect URI [R3.2]', () => {
  it.each([
    'https://partner.example/callback',
    'https://partner.example',
    'https://partner.example/',
    'https://partner.example:8443/a/b.c/~d/%41',
    'https://[2001:db8::1]/callback',
    'https://PARTNER.example/Callback',
  ])('accepts %s', (uri) => {
    expect(redirectUriProblem(uri, production)).toBeUndefined();
  });

  it.each([
    'https://partner.example/callback?x=1',
    'https://partner.example/callback?',
    'https://partner.example/callback#',
    'https://user@partner.example/callback',
    'https://user:pass@partner.example/callback',
    'https://*.partner.example/callback',
    'https://partner.example/*',
    'https://partner.example\\callback',
    'https://partner.example/call\nback',
    'https://partner.example/call back',
    'https://partner.example/../callback',
    'https://partner.example/a/.',
    'https://partner.example/a/%2e%2E/b',
    'https://partner.example/ä',
    'https://pärtner.example/',
    'http://partner.example/callback',
    'partner://callback',
    'javascript:alert(1)',
    'https:/partner.example',
    'https://',
    'https:///callback',
    'https://partner.example:99999/',
    ' https://partner.example/',
    '//partner.example/',
    '',
  ])('refuses %j', (uri) => {
    expect(redirectUriProblem(uri, test)).toMatch(/^It.*\.$/);
  });

  it.each(['http://localhost:3000/callback', 'http://127.0.0.1:9099/callback', 'http://[::1]/callback'])(
    'accepts %s outside production only',
    (uri) => {
      expect(redirectUriProblem(uri, test)).toBeUndefined();
      expect(redirectUriProblem(uri, production)).toBe('Its scheme is not https.');
    },
  );

  it.each(['http://localhost.evil.example/', 'http://127.0.0.1.evil.example/', 'http://127.0.0.2/'])(
    'does not take %s for a loopback address',
    (uri) => {
      expect(redirectUriProblem(uri, test)).toBe('Its scheme is not https.');
    },
  );

  it('accepts only what a URL parser reads without changing its path or adding to it', () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), (uri) => {
        fc.pre(redirectUriProblem(uri, production) === undefined);
        const url = new URL(uri);
        expect(url.search + url.hash + url.username + url.password).toBe('');
        expect(url.protocol).toBe('https:');
        expect(uri.endsWith(url.pathname) || url.pathname === '/').toBe(true);
      }),
    );
  });

  it('never throws, whatever the text', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (uri) => void redirectUriProblem(uri, test)));
  });
});
