// What each field of a partner and of a user must be in a --seed FILE.
import type { Partner, Person } from './seed-form.ts';

export interface Field {
  readonly expects: string;
  readonly valid: (value: unknown) => boolean;
  readonly fallback?: unknown;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
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
    expects: 'at least 43 of A-Z a-z 0-9 _ - (256 random bits in base64url)',
    valid: matches(/^[A-Za-z0-9_-]{43,128}$/),
  },
  redirectUris: { expects: 'a list of URIs that R3 allows', valid: texts(isRegistrable) },
  scopes: { expects: `a list out of ${scopes.join(', ')}`, valid: texts((scope) => scopes.includes(scope)) },
  active: { expects: 'true or false', valid: aFlag, fallback: true },
};

export const personFields: Readonly<Record<keyof Person, Field>> = {
  email: { expects: 'an e-mail address', valid: matches(/^[^\s@]+@[^\s@]+$/) },
  password: { expects: 'some text', valid: isText },
  sub: { expects: '8 to 64 of A-Z a-z 0-9 _ -', valid: matches(/^[A-Za-z0-9_-]{8,64}$/) },
  name: { expects: 'text', valid: (value) => typeof value === 'string', fallback: '' },
  about: { expects: 'text', valid: (value) => typeof value === 'string', fallback: '' },
  emailVerified: { expects: 'true or false', valid: aFlag, fallback: true },
  disabled: { expects: 'true or false', valid: aFlag, fallback: false },
};

/** R3: https anywhere, http for a loopback host; nothing that two readers could read differently. */
function isRegistrable(uri: string): boolean {
  if (!/^[\x21-\x7e]+$/.test(uri) || /[?#*\\@]/.test(uri) || /(^|\/|%2e)\.{1,2}(\/|$)/i.test(uri))
    return false;
  return /^https:\/\/[^/:]+/.test(uri) || /^http:\/\/(127\.0\.0\.1|localhost|\[::1\])(:\d+)?(\/|$)/.test(uri);
}
