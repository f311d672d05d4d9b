// GET and HEAD /.well-known/openid-configuration: identity's facts and the paths of this gateway
// (specification §4, R5, R17).
import type { GetDiscoveryResponse } from '@course-exchange/proto/identity/v1/discovery';
import { jsonAnswer } from '../answer.ts';
import { withLastAnswer } from '../wire/last-answer.ts';
import type { Services } from '../wire/services.ts';
import { authorizePath } from './authorize.ts';
import { cacheable } from './cacheable.ts';
import { keySetPath } from './get-key-set.ts';
import { tokenPath } from './post-token.ts';
import type { Route } from './route.ts';
import { userinfoPath } from './userinfo.ts';

export function getDiscovery({ discovery }: Pick<Services, 'discovery'>, now: () => number): Route {
  const read = withLastAnswer(() => discovery.getDiscovery({}), now);
  return {
    method: 'GET',
    path: '/.well-known/openid-configuration',
    surface: 'public',
    head: true,
    answer: async () => jsonAnswer(200, discoveryJson(await read()), cacheable),
  };
}

function discoveryJson(facts: GetDiscoveryResponse): string {
  const { issuer } = facts;
  return JSON.stringify({
    issuer,
    authorization_endpoint: issuer + authorizePath,
    token_endpoint: issuer + tokenPath,
    userinfo_endpoint: issuer + userinfoPath,
    jwks_uri: issuer + keySetPath,
    response_types_supported: facts.responseTypesSupported,
    response_modes_supported: facts.responseModesSupported,
    grant_types_supported: facts.grantTypesSupported,
    subject_types_supported: facts.subjectTypesSupported,
    id_token_signing_alg_values_supported: facts.idTokenSigningAlgValuesSupported,
    token_endpoint_auth_methods_supported: facts.tokenEndpointAuthMethodsSupported,
    code_challenge_methods_supported: facts.codeChallengeMethodsSupported,
    scopes_supported: facts.scopesSupported,
    claims_supported: facts.claimsSupported,
    prompt_values_supported: facts.promptValuesSupported,
    ui_locales_supported: facts.uiLocalesSupported,
    claims_parameter_supported: false,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
  });
}
