// `prompt` of an authorization request (OpenID Connect Core §3.1.2.1, R5).

export const prompts = ['none', 'login', 'consent', 'select_account'] as const;
export type Prompt = (typeof prompts)[number];

/**
 * Reads a space-separated list; letter case counts. Undefined when a word is not a prompt, or when `none`
 * stands beside another value. An empty text is an empty list.
 */
export function parsePrompt(text: string): readonly Prompt[] | undefined {
  const asked = new Set<Prompt>();
  for (const word of text.split(' ')) {
    if (word === '') continue;
    const prompt = prompts.find((known) => known === word);
    if (prompt === undefined) return undefined;
    asked.add(prompt);
  }
  return asked.has('none') && asked.size > 1 ? undefined : [...asked];
}
