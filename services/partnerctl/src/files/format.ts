// What a file is instead of NDJSON, by its beginning.

export interface OtherFormat {
  readonly is: string;
  readonly advice: string;
}

/** Longer than any header line. */
export const beginningBytes = 64 << 10;

const convert = 'Write each record as one JSON object on a line of its own.';
const unpack = 'Unpack it, or give its content on standard input.';

const bySignature: readonly (readonly [hex: RegExp, is: string, advice: string])[] = [
  [/^(0000feff|fffe0000|0000007b|7b000000)/, 'UTF-32', 'Convert it: iconv -f UTF-32 -t UTF-8.'],
  [
    /^(fffe|feff|00(?!00)..00(?!00)|(?!00)..00(?!00)..00)/,
    'UTF-16',
    'Convert it: iconv -f UTF-16 -t UTF-8; in PowerShell write it with Out-File -Encoding utf8.',
  ],
  [/^1f8b/, 'compressed by gzip', unpack],
  [/^504b0[357]0[468]/, 'a ZIP archive or an Excel workbook', `Unpack it. ${convert}`],
  [/^d0cf11e0/, 'an Excel workbook', convert],
  [/^28b52ffd/, 'compressed by zstd', unpack],
  [/^fd377a585a/, 'compressed by xz', unpack],
  [/^425a68/, 'compressed by bzip2', unpack],
];

/** `mixed`: other lines are skipped, as in a log. */
export function otherFormat(beginning: Buffer, mixed: boolean): OtherFormat | undefined {
  const hex = beginning.toString('hex', 0, 8);
  const found = bySignature.find(([signature]) => signature.test(hex));
  if (found) return { is: found[1], advice: found[2] };
  // Every byte is a character in latin1.
  const text = beginning
    .toString('latin1')
    .replace(/^\u00ef\u00bb\u00bf/, '')
    .trimStart();
  if (mixed ? /^\[\s*\{/.test(text) : text.startsWith('['))
    return { is: 'a JSON array', advice: "Convert it: jq -c '.[]'." };
  return mixed || text === '' ? undefined : otherText(text);
}

/** A line that begins an object may be a wrong line among right ones. */
function otherText(text: string): OtherFormat | undefined {
  const [line = ''] = text.split('\n', 1);
  if (/[[{:,]\s*$/.test(line))
    return { is: 'JSON over several lines, or with commas between its records', advice: convert };
  return line.startsWith('{') || isJson(line) ? undefined : { is: 'not JSON, perhaps CSV', advice: convert };
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}
