// `max_age` of an authorization request: seconds since the login that the partner still accepts (R5).

/**
 * Reads a non-negative whole number; `malformed` for anything else, undefined for an empty text. A number
 * beyond what can be counted stands for "any age".
 */
export function parseMaxAge(text: string): number | 'malformed' | undefined {
  if (text === '') return undefined;
  if (!/^[0-9]+$/.test(text)) return 'malformed';
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER);
}
