// Converts a word to the key of a proto enum: `near-expiry` to `NEAR_EXPIRY`.

type EnumKey<Word extends string> = Word extends `${infer First}-${infer Rest}`
  ? `${Uppercase<First>}_${Uppercase<Rest>}`
  : Uppercase<Word>;

export function enumKey<Word extends string>(word: Word): EnumKey<Word> {
  return word.toUpperCase().replace('-', '_') as EnumKey<Word>;
}
