// What each field of a partner and of a user must be in a --seed FILE.
import { redirectUriMistake } from './redirect-uri.ts';
import type { Partner, Person } from './seed-form.ts';

export interface Field {
  readonly expects: string;
  readonly valid: (value: unknown) => boolean;
  /** For a value of the right type: what is wrong with each of its items, one sentence each. */
  readonly details?: (value: unknown) => readonly string[];
  readonly fallback?: unknown;
}

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && isStorable(value);
/** Postgres keeps any text but this one character. */
const isStorable = (text: string) => !text.includes('\0');
const isAnyText = (value: unknown) => typeof value === 'string' && isStorable(value);
const matches = (pattern: RegExp) => (value: unknown) => isText(value) && pattern.test(value);
const texts = (check: (text: string) => boolean) => (value: unknown) =>
  Array.isArray(value) && value.length > 0 && value.every((item) => isText(item) && check(item));
const aFlag = (value: unknown) => typeof value === 'boolean';

const scopes: readonly string[] = ['openid', 'email', 'profile'];

export const partnerFields: Readonly<Record<keyof Partner, Field>> = {
  name: { expects: 'some text', valid: isText },
  clientId: {
    expects: '1 to 64 of A-Z a-z 0-9 _ - and not "design-api"',
    valid: (value) => matches(/^[A-Za-z0-9_-]{1,64}$/)(value) && value !== 'design-api',
  },
  clientSecret: {
    expects: '1 to 255 printable ASCII characters',
    valid: matches(/^[\x20-\x7e]{1,255}$/),
  },
  redirectUris: {
    expects: 'a list of redirect URIs that R3 allows',
    valid: texts((uri) => redirectUriMistake(uri) === undefined),
    details: redirectUriMistakes,
  },
  scopes: { expects: `a list out of ${scopes.join(', ')}`, valid: texts((scope) => scopes.includes(scope)) },
  active: { expects: 'true or false', valid: aFlag, fallback: true },
};

export const personFields: Readonly<Record<keyof Person, Field>> = {
  email: {
    expects: 'an e-mail address of at most 254 characters',
    valid: matches(/^(?=.{1,254}$)[^\s@]+@[^\s@]+$/),
  },
  password: { expects: 'some text', valid: isText },
  sub: {
    expects: '1 to 255 printable ASCII characters without spaces',
    valid: matches(/^[\x21-\x7e]{1,255}$/),
  },
  name: { expects: 'text', valid: isAnyText, fallback: '' },
  about: { expects: 'text', valid: isAnyText, fallback: '' },
  emailVerified: { expects: 'true or false', valid: aFlag, fallback: true },
  disabled: { expects: 'true or false', valid: aFlag, fallback: false },
};

function redirectUriMistakes(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isText).flatMap((uri) => {
    const mistake = redirectUriMistake(uri);
    return mistake === undefined ? [] : [`${JSON.stringify(uri)}: ${mistake}`];
  });
}
