// The words of the services on the wire: an enum's keys are theirs, in capitals.

type EnumKey<Word extends string> = Word extends `${infer First}-${infer Rest}`
  ? `${Uppercase<First>}_${Uppercase<Rest>}`
  : Uppercase<Word>;

/** The key of an enum of the wire for one of our words: `NEAR_EXPIRY` for `near-expiry`. */
export function enumKey<Word extends string>(word: Word): EnumKey<Word> {
  return word.toUpperCase().replace('-', '_') as EnumKey<Word>;
}
