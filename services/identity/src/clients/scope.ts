// Scopes: the closed set of specification §5.
export const knownScopes = ['openid', 'profile', 'email'] as const;
export type Scope = (typeof knownScopes)[number];

/** Each word once, in order of first mention. Undefined for an unknown word. */
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

export function isWithin(asked: readonly Scope[], allowed: readonly Scope[]): boolean {
  return asked.every((scope) => allowed.includes(scope));
}

/** In the order of `scopes`. */
export function intersection(scopes: readonly Scope[], allowed: readonly Scope[]): readonly Scope[] {
  return scopes.filter((scope) => allowed.includes(scope));
}
