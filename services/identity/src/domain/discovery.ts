// What the discovery document publishes (specification §4), and what OIDC Discovery needs besides.
import { challengeMethods } from './pkce.ts';
import { knownScopes } from './scope.ts';
import { idTokenAlgorithm } from './signing-algorithm.ts';

export const capabilities = {
  responseTypesSupported: ['code'],
  grantTypesSupported: ['authorization_code', 'refresh_token'],
  tokenEndpointAuthMethodsSupported: ['client_secret_basic', 'client_secret_post'],
  idTokenSigningAlgValuesSupported: [idTokenAlgorithm],
  codeChallengeMethodsSupported: [...challengeMethods],
  scopesSupported: [...knownScopes],
  claimsSupported: ['sub', 'email', 'email_verified', 'name'],
  subjectTypesSupported: ['public'],
  responseModesSupported: ['query'],
  promptValuesSupported: ['none', 'login', 'consent', 'select_account'],
  uiLocalesSupported: ['en', 'de'],
};
