// Answers to the partner: appended to the registered redirect URI, never rebuilt by a URL object (R3.3); `state`
// exactly as sent (R3.4); no `iss` (R4.2).
import type { ClientId, Sub } from '../ids.ts';
import { authorizationRefusal, Refusal, refusalCodes } from '../refusals/reasons.ts';
import type { RequestLog } from '../request-log.ts';

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

const { authorization: codes } = refusalCodes;
type Codes = typeof codes;

/** Reasons whose code may go by redirect. */
export type RedirectReason = {
  [Reason in keyof Codes]: Codes[Reason] extends RedirectedError ? Reason : never;
}[keyof Codes];

export interface AnswerAddress {
  readonly redirectUri: string;
  readonly state: string;
}

export interface PartnerRedirect<Effective extends boolean = true> {
  readonly kind: 'redirect';
  /** Whether it is the response to what was asked for; else nothing was done. */
  readonly effective: Effective;
  /** Secret if it carries a code (R27). */
  readonly location: string;
  readonly error?: RedirectedError;
}

export function codeRedirect(address: AnswerAddress, code: string): PartnerRedirect {
  return { kind: 'redirect', effective: true, location: locationWith(address, 'code', code) };
}

export function errorRedirect(address: AnswerAddress, error: RedirectedError): PartnerRedirect {
  return { kind: 'redirect', effective: true, location: locationWith(address, 'error', error), error };
}

function locationWith({ redirectUri, state }: AnswerAddress, name: string, value: string): string {
  const answer = new URLSearchParams([[name, value]]);
  if (state !== '') answer.append('state', state);
  return `${redirectUri}?${answer}`;
}

export function refuseByRedirect(
  deps: Pick<RequestLog, 'observe'>,
  request: AnswerAddress & { readonly clientId: ClientId },
  reason: RedirectReason,
  sub?: Sub,
): PartnerRedirect {
  const refusal = authorizationRefusal(reason);
  deps.observe({ event: 'authorization_refused', refusal, client: request.clientId, sub });
  return errorRedirect(request, codes[reason]);
}

/** Turns a Refusal thrown by `check` into the direct one of `client`, or of the `claimed` client. */
export function refuseDirectly<T>(
  deps: Pick<RequestLog, 'observe'>,
  client: ClientId | undefined,
  check: () => T,
  claimed?: string,
): T {
  try {
    return check();
  } catch (error) {
    if (error instanceof Refusal)
      deps.observe({ event: 'authorization_refused', refusal: error, client, claimed });
    throw error;
  }
}
