// Names that people cannot tell apart, so that an operator sees who imitates whom.

/** Letters, and the Latin ones that they look like (Unicode UTS #39, those of Greek, Cyrillic and odd Latin). */
const lookalikes: readonly (readonly [letters: string, latin: string])[] = [
  ['ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹϳ', 'ABEZHIKMNOPTYXCj'],
  ['αγεηικνορτυχωϲς', 'ayenikvoptuxwcc'],
  ['АВЕЅІЈКМНОРСТХУҮԚԜѴԌЬӀ', 'ABESIJKMHOPCTXYYQWVGbl'],
  ['авгеѕіјкмнопрстухүһԁԛԝѵӏиь', 'abresijkmhonpctyxyhdqwvlub'],
  ['ıɩɪɑɡøđłħŧƚʏ', 'iiiagodlhtly'],
  ['ᴀʙᴄᴅᴇɢʜᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡᴢ', 'abcdeghjklmnoprstuvwz'],
];
const latinOf = new Map(
  lookalikes.flatMap(([letters, latin]) => [...letters].map((letter, at) => [letter, latin[at] ?? letter])),
);

/** Equal for names that look alike; not to be shown. */
export function skeletonOf(name: string): string {
  const decomposed = name.normalize('NFKD').replaceAll(/[\u0300-\u036f]/g, '');
  const latin = Array.from(decomposed, (letter) => latinOf.get(letter) ?? letter).join('');
  const plain = latin
    .toLowerCase()
    .replaceAll(/[i1|!]/g, 'l')
    .replaceAll('0', 'o');
  const alike = plain.replaceAll('rn', 'm').replaceAll('vv', 'w');
  return alike.replaceAll(/[^\p{L}\p{M}\p{N}]|\p{Default_Ignorable_Code_Point}/gu, '') || alike;
}

/** Japanese and Korean words mix scripts, and some letters belong to every script. */
const mixable = String.raw`\p{Script=Latin}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Common}\p{Script=Inherited}`;
const mixedWord = new RegExp(
  String.raw`(?=[\p{L}\p{M}]*\p{Script=Latin})[\p{L}\p{M}]*(?![${mixable}])\p{L}`,
  'u',
);

/** Whether a word mixes Latin letters with those of an alphabet that has some alike. */
export function mixesAlphabets(name: string): boolean {
  return mixedWord.test(name.normalize('NFKC'));
}
