// The parameters of an authorization request as they come, and which names are ours.

/** Values after one form-decoding; an empty value is an absent one (R1). */
export interface AuthorizationParameters {
  readonly responseType: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scope: string;
  readonly state: string;
  readonly nonce: string;
  readonly codeChallenge: string;
  readonly codeChallengeMethod: string;
  readonly prompt: string;
  readonly maxAge: string;
  readonly loginHint: string;
  readonly idTokenHint: string;
  readonly uiLocales: string;
  readonly request: string;
  readonly requestUri: string;
  readonly responseMode: string;
}

/**
 * Names that must not come twice (R1): all that the specification, RFC 7636 and OpenID Connect define for
 * this endpoint, those that R5 ignores too. A name that is not here may come as often as it likes.
 */
const knownParameters: ReadonlySet<string> = new Set([
  ...['response_type', 'client_id', 'redirect_uri', 'scope', 'state', 'nonce', 'response_mode'],
  ...['code_challenge', 'code_challenge_method'],
  ...['prompt', 'max_age', 'login_hint', 'id_token_hint', 'ui_locales', 'request', 'request_uri'],
  ...['claims', 'acr_values', 'display', 'claims_locales'],
]);

/** Whether one of the names that came more than once is a known parameter (R1). */
export function repeatsKnownParameter(repeated: readonly string[]): boolean {
  return repeated.some((name) => knownParameters.has(name));
}
