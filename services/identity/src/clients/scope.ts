// Scopes: the closed set of the specification (§5), how a list of them is read and written.
export const knownScopes = ['openid', 'profile', 'email'] as const;
export type Scope = (typeof knownScopes)[number];

/**
 * Reads a space-separated list; each word once, in the order of its first mention. Undefined when a word is not among
 * `known`; an empty list when there is no word at all.
 */
export function parseWords<Word extends string>(
  text: string,
  known: readonly Word[],
): readonly Word[] | undefined {
  const words = new Set(text.split(' ').filter((word) => word !== ''));
  const found = [...words].map((word) => known.find((one) => one === word));
  return found.every((word) => word !== undefined) ? found : undefined;
}

export function parseScope(text: string): readonly Scope[] | undefined {
  return parseWords(text, knownScopes);
}

export function formatScope(scopes: readonly Scope[]): string {
  return scopes.join(' ');
}

/** Whether every one of `asked` is among `allowed`. */
export function isWithin(asked: readonly Scope[], allowed: readonly Scope[]): boolean {
  return asked.every((scope) => allowed.includes(scope));
}

/** Those of `scopes` that are among `allowed`, in the order of `scopes`. */
export function intersection(scopes: readonly Scope[], allowed: readonly Scope[]): readonly Scope[] {
  return scopes.filter((scope) => allowed.includes(scope));
}
