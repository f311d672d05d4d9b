// Decodes application/x-www-form-urlencoded text, once (R3): the query of /authorize and every form.

export interface Form {
  /** The value, or '' when absent: empty and absent are the same (R1). */
  readonly get: (name: string) => string;
  /** Names that came more than once. Identity knows which of them matter (R1, R7). */
  readonly repeated: readonly string[];
}

/** No name of the protocol is longer; longer ones are ignored like every unknown name. */
const longestName = 64;

export function decodeForm(encoded: string): Form {
  const values = new Map<string, string>();
  const repeated = new Set<string>();
  for (const [name, value] of new URLSearchParams(encoded)) {
    if (values.has(name) && name.length <= longestName) repeated.add(name);
    else values.set(name, value);
  }
  return { get: (name) => values.get(name) ?? '', repeated: [...repeated] };
}

/** True for application/x-www-form-urlencoded with or without parameters (R7). */
export function isFormEncoded(contentType: string | undefined): boolean {
  const mediaType = contentType?.split(';', 1)[0]?.trim().toLowerCase();
  return mediaType === 'application/x-www-form-urlencoded';
}
