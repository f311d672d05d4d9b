// discovery/ is what identity publishes of itself: metadata and key set. The keys stand in keys/.

// DiscoveryService: discovery (specification §4, OIDC Discovery) and the key set, from memory.
import type { DescMethod } from '@bufbuild/protobuf';
import { DiscoveryService } from '@course-exchange/proto/identity/v1/discovery';
import type { IncomingCall } from '@course-exchange/runtime/grpc/incoming-call';
import { expectPeer, type Peer } from '@course-exchange/runtime/grpc/peer';
import type { Handlers } from '@course-exchange/runtime/grpc/server';
import { prompts } from '../authorize/request.ts';
import { knownScopes } from '../clients/scope.ts';
import type { VerificationKey } from '../keys/ring.ts';
import { idTokenAlgorithm, type TokenIssuer } from '../token/jwt.ts';
import { challengeMethods } from '../token/pkce.ts';

const capabilities = {
  responseTypesSupported: ['code'],
  grantTypesSupported: ['authorization_code', 'refresh_token'],
  tokenEndpointAuthMethodsSupported: ['client_secret_basic', 'client_secret_post'],
  idTokenSigningAlgValuesSupported: [idTokenAlgorithm],
  codeChallengeMethodsSupported: [...challengeMethods],
  scopesSupported: [...knownScopes],
  claimsSupported: ['sub', 'email', 'email_verified', 'name'],
  subjectTypesSupported: ['public'],
  responseModesSupported: ['query'],
  promptValuesSupported: [...prompts],
};

export function createDiscoveryHandlers({
  issuer,
  keys,
}: Pick<TokenIssuer, 'issuer' | 'keys'>): Handlers<typeof DiscoveryService> {
  const discovery = { issuer, ...capabilities };
  return {
    getDiscovery: async () => discovery,
    getKeySet: async () => ({ jwks: toJwks(keys.publishedKeys()) }),
  };
}

/** RFC 7517 §5, by name, so that no private member can leak. */
function toJwks(keys: readonly VerificationKey[]): string {
  const published = keys.map(({ kid, algorithm, publicJwk: { kty, n, e, crv, x, y } }) => {
    const parameters = kty === 'RSA' ? { n, e } : { crv, x, y };
    return { kty, use: 'sig', alg: algorithm, kid, ...parameters };
  });
  return JSON.stringify({ keys: published });
}

/** design-catalog needs only the key set. */
export function expectGatewayOrKeySet(gateway: Peer, catalog: Peer) {
  return (call: IncomingCall, method: DescMethod): void => {
    if (method === DiscoveryService.method.getKeySet) expectPeer(call, gateway, catalog);
    else expectPeer(call, gateway);
  };
}
