// The known parameters of the protocol's endpoints; none may be repeated (R1.2, R7.5).

/** With those that R5.13 ignores. */
export const authorizationParameters: readonly string[] = (
  'response_type client_id redirect_uri scope state nonce response_mode code_challenge code_challenge_method ' +
  'prompt max_age login_hint id_token_hint ui_locales request request_uri claims acr_values display claims_locales'
).split(' ');

export const tokenParameters: readonly string[] =
  'grant_type code redirect_uri code_verifier refresh_token scope client_id client_secret'.split(' ');
