// Scopes: the closed set of the specification (§5), how a list of them is read and written.
export const knownScopes = ['openid', 'profile', 'email'] as const;
export type Scope = (typeof knownScopes)[number];

/**
 * Reads a space-separated list; each scope once, in the order of its first mention. Undefined when a word
 * is not a scope of this service; an empty list when there is no word at all.
 */
export function parseScope(text: string): readonly Scope[] | undefined {
  const scopes = new Set<Scope>();
  for (const word of text.split(' ')) {
    if (word === '') continue;
    const scope = knownScopes.find((known) => known === word);
    if (scope === undefined) return undefined;
    scopes.add(scope);
  }
  return [...scopes];
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
