// The language of a page; the texts are in messages.json.
import texts from './messages.json' with { type: 'json' };

export type Messages = typeof texts.en;

const languages: Readonly<Record<string, Messages>> = texts;

/** The best language that we have, else English. */
export function messagesFor(header: string | undefined): Messages {
  const wanted = (header ?? '')
    .split(',')
    .map((entry) => {
      const [tag = '', ...parameters] = entry.trim().toLowerCase().split(';');
      const weight = parameters.map((text) => /^\s*q=([\d.]+)$/.exec(text)?.[1]).find(Boolean) ?? '1';
      return { language: tag.split('-')[0] ?? '', weight: Number(weight) };
    })
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight);
  const found = wanted.find(({ language }) => Object.hasOwn(languages, language));
  return (found && languages[found.language]) ?? texts.en;
}
