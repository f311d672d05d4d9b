// One table for all languages, and how one is chosen (R5).
import { expect, test } from 'vitest';
import { chooseLanguage, languages } from './language.ts';

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
