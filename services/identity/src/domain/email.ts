// E-mail addresses as the database compares them.

/**
 * Lower case as Postgres' `lower` makes it: letter by letter, one letter for one. JavaScript's own knows
 * whole words and longer letters, so that two spellings of one account would count as two.
 */
export function foldEmail(email: string): string {
  return Array.from(email, (letter) => Array.from(letter.toLowerCase())[0] ?? '').join('');
}
