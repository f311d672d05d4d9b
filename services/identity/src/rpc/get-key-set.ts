// DiscoveryService.GetKeySet: the key ring's public keys, from memory.
import type { DiscoveryService } from '@course-exchange/proto/identity/v1/discovery';
import type { Handlers } from '@course-exchange/runtime/rpc-server';
import type { KeyRing, VerificationKey } from '../signing/key-ring.ts';

export function getKeySetHandler(keys: KeyRing): Handlers<typeof DiscoveryService>['getKeySet'] {
  return async () => ({ keys: keys.publishedKeys().map(toJsonWebKey) });
}

/** Names each public member, so that a private one could never follow. */
function toJsonWebKey({ kid, algorithm, publicJwk }: VerificationKey) {
  const member = (name: string): string => {
    const value = publicJwk[name];
    return typeof value === 'string' ? value : '';
  };
  return {
    kid,
    alg: algorithm,
    kty: member('kty'),
    n: member('n'),
    e: member('e'),
    crv: member('crv'),
    x: member('x'),
    y: member('y'),
  };
}
