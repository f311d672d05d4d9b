// The words of the services as keys of proto enums.

type EnumKey<Word extends string> = Word extends `${infer First}-${infer Rest}`
  ? `${Uppercase<First>}_${Uppercase<Rest>}`
  : Uppercase<Word>;

/** The key of a proto enum for one of our words: `NEAR_EXPIRY` for `near-expiry`. */
export function enumKey<Word extends string>(word: Word): EnumKey<Word> {
  return word.toUpperCase().replace('-', '_') as EnumKey<Word>;
}
