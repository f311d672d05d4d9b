// messages/ is the texts of the pages, one file for each language, and the choice of the language.

// The languages of the pages, chosen by ui_locales, then Accept-Language, then English (R5.14).
import { acceptedValues } from '../../http/accept.ts';
import { de } from './de.ts';
import { en, type Messages } from './en.ts';

/** By `lang` attribute. */
export const languages: Readonly<Record<string, Messages>> = { en, de };

export interface Language {
  readonly tag: string;
  readonly messages: Messages;
}

/** `uiLocales`: space-separated, best first, may be empty (OIDC Core §3.1.2.1). */
export function chooseLanguage(uiLocales: string, acceptLanguage: string | undefined): Language {
  const wishes = [...uiLocales.split(' '), ...acceptedTags(acceptLanguage)];
  const known = wishes.map(primaryTag).find((tag) => Object.hasOwn(languages, tag)) ?? 'en';
  return { tag: known, messages: languages[known] ?? en };
}

function primaryTag(tag: string): string {
  return tag.split('-', 1)[0]?.toLowerCase() ?? '';
}

function acceptedTags(header: string | undefined): readonly string[] {
  return acceptedValues(header)
    .filter(([, weight]) => weight > 0)
    .sort(([, one], [, other]) => other - one)
    .map(([tag]) => tag);
}
