// E-mail addresses: their form, and how the database compares them.

/** Looser than RFC 5321 within its lengths. */
export function isEmail(text: string): boolean {
  return /^[^\s@\p{Cc}]{1,64}@[^\s@\p{Cc}]{1,190}$/u.test(text);
}

/**
 * Lower case like Postgres' `lower`, one letter for one: otherwise two spellings of one account would count as two.
 */
export function foldEmail(email: string): string {
  return Array.from(email, (letter) => Array.from(letter.toLowerCase())[0] ?? '').join('');
}
