// A partner's duties that a rehearsal can observe, each with its section of the specification or its ruling.

export interface Duty {
  /** In the specification, or a sentence of a ruling. */
  readonly section: string;
  readonly sentence: string;
  /** No request shows whether it is kept. */
  readonly isUnseen?: true;
}

export const duties = {
  'code-once': { section: 'S5.flow.2', sentence: 'Exchange a code once.' },
  'check-state': { section: 'S5.flow', sentence: 'Refuse a callback whose state you did not send.' },
  'stop-at-error': { section: 'S5.flow', sentence: 'Exchange nothing after an error on the callback.' },
  'id-token-signature': {
    section: 'S5.flow.3',
    sentence: 'Accept an ID token only if a key of the key set, chosen by kid, signed it.',
  },
  'id-token-algorithm': {
    section: 'S5.flow.3',
    sentence: 'Accept an ID token only if it is signed with RS256.',
  },
  'id-token-issuer': { section: 'S5.flow.3', sentence: 'Accept an ID token only from the exact issuer.' },
  'id-token-audience': { section: 'S5.flow.3', sentence: 'Accept an ID token only if you are its audience.' },
  'id-token-nonce': { section: 'S5.flow.3', sentence: 'Accept an ID token only with the nonce you sent.' },
  'id-token-expiry': { section: 'S5.flow.3', sentence: 'Reject an expired ID token.' },
  'every-key': { section: 'S5.flow.3', sentence: 'Choose the key by kid from the whole key set.' },
  'identify-by-sub': {
    section: 'S5.flow.4',
    sentence: 'Identify a user by issuer and sub: the e-mail address may change.',
  },
  'id-token-opens-nothing': { section: 'S5.api.5', sentence: 'Send no ID token to an API.' },
  'no-secret-in-urls': { section: 'S5.flow', sentence: 'Put no secret, verifier or token into a URL.' },
  'one-refresh-at-a-time': {
    section: 'S5.lifetime',
    sentence: 'Refresh one at a time for each user session and client.',
  },
  'replace-refresh-token': {
    section: 'S5.lifetime',
    sentence: 'Replace the refresh token after each refresh.',
  },
  'never-again': {
    section: 'S3',
    sentence: 'Never send a code or refresh token again when no answer came: start a new authorization flow.',
  },
  'wait-for-answer': { section: 'R14.2', sentence: 'Wait at least 3 s for an answer.' },
  'wait-for-retry-after': {
    section: 'R14.1',
    sentence: 'After our 503 send the refresh token again at most once, and not before Retry-After.',
  },
  'start-new-flow': {
    section: 'S7',
    sentence: 'After invalid_grant delete the tokens and start a new authorization flow.',
  },
  'refresh-once': {
    section: 'S7',
    sentence: 'After invalid_token refresh once, and never send the refused access token again.',
  },
  'take-404-as-answer': {
    section: 'S7',
    sentence: 'Treat not_found as an answer: neither retry nor refresh.',
  },
  'whole-list': {
    section: 'S8',
    sentence: 'Accept the whole event list: it has no upper bound.',
    isUnseen: true,
  },
} as const satisfies Readonly<Record<string, Duty>>;

export type DutyName = keyof typeof duties;

export interface Breach {
  readonly duty: DutyName;
  /** What the client did, in a sentence. */
  readonly seen: string;
}

export function breachText({ duty, seen }: Breach): string {
  const { section, sentence } = duties[duty];
  return `${duty} (${section}): ${sentence} ${seen}`;
}
