// Answers to the partner: the registered redirect URI with the answer appended, never rebuilt by a URL
// object; `state` exactly as it came, and left out when it did not; no `iss` (R3, R4).

/** Error codes that a redirect may carry (specification §7, R5). */
export const redirectedErrors = [
  'access_denied',
  'consent_required',
  'invalid_request',
  'invalid_scope',
  'login_required',
  'request_not_supported',
  'request_uri_not_supported',
] as const;
export type RedirectedError = (typeof redirectedErrors)[number];

/** Where an answer goes: a redirect URI that was verified, and the state of the request (empty: none). */
export interface AnswerAddress {
  readonly redirectUri: string;
  readonly state: string;
}

/** Location that hands out the authorization code. Secret (R27). */
export function codeLocation(address: AnswerAddress, code: string): string {
  return locationWith(address, 'code', code);
}

export function errorLocation(address: AnswerAddress, error: RedirectedError): string {
  return locationWith(address, 'error', error);
}

function locationWith({ redirectUri, state }: AnswerAddress, name: string, value: string): string {
  const answer = new URLSearchParams([[name, value]]);
  if (state !== '') answer.append('state', state);
  return `${redirectUri}?${answer}`;
}
