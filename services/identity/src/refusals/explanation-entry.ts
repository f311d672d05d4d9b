// An entry in the table of explanations, and builders for similar ones.
import type { EarlierRequest, RefusalName } from './reasons.ts';

export interface Entry {
  readonly sentence: string;
  /** The specification's section of the duty that the client certainly broke, else empty. */
  readonly duty: string;
  readonly partnerDoes: string;
  /** CLIENT and USER in commands stand for the record's. */
  readonly operatorLooks: string;
  /** If the time of the earlier request is known; `before`: "4.2 s earlier". */
  readonly since?: (before: string) => string;
}

export function alike<Name extends RefusalName>(
  partnerDoes: string,
  sentences: Readonly<Record<Name, string>>,
  operatorLooks = 'Nothing here: the request itself is wrong.',
  duty = '',
): Record<Name, Entry> {
  const entries = Object.entries<string>(sentences).map(([name, sentence]) => {
    const entry: Entry = { sentence, duty, partnerDoes, operatorLooks };
    return [name, entry] as const;
  });
  return Object.fromEntries(entries) as Record<Name, Entry>;
}

export const newFlow = 'Delete the tokens of this user and start a new authorization flow.';
/** `user show` prints the SUB. */
const theUser =
  'The user: `partnerctl user show --hash USER`. Who changed it: `partnerctl audit list --object user:SUB`.';

/** `event`: in the past tense, without a full stop. */
export function ended(event: string, operatorLooks = theUser, duty = ''): Entry {
  const text = (when: string) => `${event}${when}: no refresh token of this grant is valid any more.`;
  const since = (before: string) => text(` ${before}`);
  return { sentence: text(''), duty, partnerDoes: newFlow, operatorLooks, since };
}

/** By what revoked the grant. */
export const revocations: Readonly<Record<NonNullable<EarlierRequest['revoked']>, Entry>> = {
  code_replayed: ended(
    'The authorization code was sent a second time',
    'What sends a code twice: a reloaded callback, two processes, or a proxy that repeats a POST.',
    'S5.flow.2',
  ),
  superseded: {
    sentence: 'A later code exchange ended this connection: the user had too many with the client.',
    since: (before) =>
      `A code exchange ${before} ended this connection: the user had too many with the client, and its refresh token was the oldest of those that began first.`,
    duty: '',
    partnerDoes:
      'Keep one connection for each user, or device of the user, and refresh it. Now start a new authorization flow.',
    operatorLooks:
      'How often the client connects: `partnerctl client conduct CLIENT`. The limit: the setting MAX_REFRESH_FAMILIES.',
  },
  consent_withdrawn: ended(
    "The user's consent was withdrawn",
    'Who withdrew it: `partnerctl audit list --client CLIENT --action consent.withdraw`.',
  ),
  user_disabled: ended("The user's account was disabled"),
  signed_out_by_operator: ended('The operator signed the user out'),
  // Its time is not known.
  user_deleted: {
    sentence: "The user's account was deleted: no refresh token of this grant is valid any more.",
    ...{ duty: '', partnerDoes: newFlow, operatorLooks: theUser },
  },
};

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** Between two requests, by clocks that may differ more. */
export function span(ms: number): string {
  if (ms < 100) return 'less than 0.1 s';
  if (ms < 2 * minute) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < 2 * hour) return `${Math.floor(ms / minute)} minutes`;
  return ms < 2 * day ? `${Math.floor(ms / hour)} hours` : `${Math.floor(ms / day)} days`;
}
