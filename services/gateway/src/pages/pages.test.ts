// What the consent page says is true: what is asked for, how long it lasts, how it ends (specification §1, R6.8), and in
// which language (R5.14).
import { describe, expect, test } from 'vitest';
import { contentSecurityPolicy } from '../http/headers.ts';
import { type ConsentContent, consentPage } from './consent.ts';
import type { Links } from './layout.ts';
import { type LoginProblem, loginPage } from './login.ts';
import { chooseLanguage, languages } from './messages/language.ts';

const noLinks: Links = {
  passwordReset: undefined,
  privacy: undefined,
  imprint: undefined,
  support: undefined,
};
const content: ConsentContent = {
  interactionId: 'AAAAAAAAAAAAAAAAAAAAAA',
  formToken: 'form-token',
  sealedInteraction: '',
  partner: 'Stable Diary',
  account: { name: 'Marta Lindqvist', email: 'marta@example.org' } as ConsentContent['account'],
  scopes: ['openid', 'email', 'profile'],
  scopesGrantedBefore: [],
};

function pageWith(changes: Partial<ConsentContent>, tag = 'en', support?: string): string {
  const messages = languages[tag] ?? expect.fail();
  const layout = { language: { tag, messages }, links: { ...noLinks, support }, reference: 'r' };
  return consentPage(layout, { ...content, ...changes });
}

/** The page as it is read: without markup. */
function read(changes: Partial<ConsentContent> = {}, ...how: [tag?: string, support?: string]): string {
  return pageWith(changes, ...how)
    .replace(/<[^>]+>/g, '')
    .replace(/\s+/g, ' ');
}

describe('how consent ends (R6.1, R6.2)', () => {
  test('by the operator, for whom support stands where there is one', () => {
    expect(read()).toContain('To withdraw it, write to the operator of Course Exchange.');
    expect(read({}, 'en', 'https://help.example')).toContain('To withdraw it, write to our support.');
    expect(read({}, 'de')).toContain('schreiben Sie dem Betreiber von Course Exchange.');
  });

  test('not by disconnecting, and not by itself', () => {
    expect(read()).toContain('It can reconnect without asking you again.');
    expect(read()).toContain('Your consent lasts until you withdraw it.');
  });

  test('with 15 minutes of reading for who can read at all', () => {
    expect(read()).toContain('15 minutes');
    expect(read({ scopes: ['email', 'profile'] })).not.toContain('15 minutes');
  });
});

test.each([
  [
    'en',
    'What Stable Diary will see Nothing. Stable Diary will not be able to see your name',
    /and whether it is confirmed/,
  ],
  [
    'de',
    'Was Stable Diary sehen wird Nichts. Diese Verbindung gibt weder Ihren Namen',
    /Angabe, ob sie bestätigt ist/,
  ],
])('without openid nothing is released, as the page says in %s [R6.9]', (tag, said, list) => {
  const page = read({ scopes: ['email', 'profile'] }, tag);
  expect(page).toContain(said);
  expect(page).not.toMatch(list);
  expect(read({ scopes: ['openid'] }, tag)).toMatch(list);
});

describe('consent that is asked again', () => {
  const again = (scopesGrantedBefore: readonly string[]) => read({ scopesGrantedBefore });

  test('names what is asked for in addition, and says when nothing more is shared (R6.8, R6.9)', () => {
    expect(again(['openid'])).toContain(
      'This time it also asks for your e-mail address and your name. Nothing more is shared than before.',
    );
    expect(again(['email', 'profile'])).toContain('also asks for your events and course designs.');
    expect(again(['email', 'profile'])).not.toContain('Nothing more');
  });

  test('says nothing about earlier consent where all or none was given', () => {
    expect(again([])).not.toContain('This time');
    expect(again(content.scopes)).not.toContain('This time');
  });
});

test.each(['en', 'de'])('whatever is not exposed is listed in %s (specification §1)', (tag) => {
  const words = {
    en: 'geometry route obstacles groups arena drawings PDFs previews images download create change delete upload Notifications team organisation shared.or.public deleted competitions activities destinations subscription payments profile password sessions tokens',
    de: 'Geometrie Linienführung Hindernisse Gruppen Platzaufteilung Zeichnungen PDFs Vorschauen Bilder Herunterladen anzulegen ändern löschen hochzuladen Benachrichtigungen Teams Organisation geteilte gelöscht Wettbewerbe Aktivitäten Ziele Abonnement Zahlungen Profil Passwort Sitzungen Tokens',
  }[tag];
  for (const word of words?.split(' ') ?? expect.fail()) expect(read({}, tag)).toMatch(new RegExp(word));
});

test.each(['openid', 'email'])(
  'four lines of it are in view where %s is asked for, the others fold',
  (scope) => {
    const [, inView = '', folded = ''] = pageWith({ scopes: [scope] }).split('class="never"');
    expect(inView.match(/<li>/g)).toHaveLength(4);
    expect(inView).toContain('<details>');
    expect(folded.match(/<li>/g)?.length).toBeGreaterThan(4);
  },
);

test('no sentence is empty in any language; a missing one does not compile', () => {
  for (const messages of Object.values(languages)) expect(JSON.stringify(messages)).not.toContain('""');
});

test('ui_locales goes before Accept-Language, which goes before English', () => {
  expect(chooseLanguage('fr de-AT en', 'en').tag).toBe('de');
  expect(chooseLanguage('', 'fr, de;q=0.5, en;q=0.4').tag).toBe('de');
  expect(chooseLanguage('', 'de;q=0, en').tag).toBe('en');
  expect(chooseLanguage('fr', 'es').tag).toBe('en');
  expect(chooseLanguage('', undefined).tag).toBe('en');
  expect(chooseLanguage('__proto__ constructor', ';;,q=').tag).toBe('en');
});

test('a field of the login form names its errors', () => {
  const language = chooseLanguage('en', undefined);
  const login = (problem: LoginProblem) =>
    loginPage({ language, links: noLinks, reference: 'r' }, { ...content, email: 'a@b.c', problem });
  const both = login({ both: 'Wrong.', again: 'Again.' });
  expect(both.match(/ aria-invalid="true" aria-describedby="problem password-error"/g)).toHaveLength(2);
  expect(login({ email: 'Missing.' })).toContain(' aria-invalid="true" aria-describedby="email-error"');
});

test.each([
  [false, "img-src 'self'; form-action 'self';"],
  [true, "img-src 'self';"],
])('the policy of a page; leads to a partner: %s (R25.5, R25.8)', (leadsToPartner, own) => {
  const policy = `default-src 'none'; style-src 'self'; ${own} frame-ancestors 'none'; base-uri 'none'`;
  expect(contentSecurityPolicy(leadsToPartner)).toBe(policy);
});
