// One table for all languages, and how one is chosen (R5).
import { expect, test } from 'vitest';
import { chooseLanguage, languages } from './languages.ts';

function keysOf(value: object, path = ''): string[] {
  return Object.entries(value).flatMap(([key, child]) =>
    typeof child === 'object' && child !== null && !Array.isArray(child)
      ? keysOf(child, `${path}${key}.`)
      : [`${path}${key}`],
  );
}

test('every language says the same sentences, none of them empty', () => {
  const english = keysOf(languages.en ?? {}).sort();
  for (const messages of Object.values(languages)) expect(keysOf(messages).sort()).toEqual(english);
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
