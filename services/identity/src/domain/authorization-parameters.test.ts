import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { repeatsKnownParameter } from './authorization-parameters.ts';
import { parseMaxAge } from './max-age.ts';
import { parsePrompt, prompts } from './prompt.ts';

describe('repeated parameters (R1)', () => {
  it.each(['state', 'client_id', 'prompt', 'claims', 'code_challenge_method', 'response_mode'])(
    '%s must not come twice',
    (name) => {
      expect(repeatsKnownParameter(['foo', name])).toBe(true);
    },
  );

  it('an unknown parameter may', () => {
    expect(repeatsKnownParameter(['foo', 'State', 'state[]', ''])).toBe(false);
    expect(repeatsKnownParameter([])).toBe(false);
  });
});

describe('prompt (R5)', () => {
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

describe('max_age (R5)', () => {
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
