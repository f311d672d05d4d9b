// GET and HEAD /.well-known/jwks.json: the public signing keys (specification §4, R17).
import type { JsonWebKey } from '@course-exchange/proto/identity/v1/discovery';
import { jsonAnswer } from '../answer.ts';
import { withLastAnswer } from '../wire/last-answer.ts';
import type { Services } from '../wire/services.ts';
import { cacheable } from './cacheable.ts';
import type { Route } from './route.ts';

export const keySetPath = '/.well-known/jwks.json';

export function getKeySet({ discovery }: Pick<Services, 'discovery'>, now: () => number): Route {
  const read = withLastAnswer(() => discovery.getKeySet({}), now);
  return {
    method: 'GET',
    path: keySetPath,
    surface: 'public',
    head: true,
    answer: async () => {
      const { keys } = await read();
      return jsonAnswer(200, JSON.stringify({ keys: keys.map(publicKey) }), cacheable);
    },
  };
}

/** Only members of a public key are named here, so that no other can come out. */
function publicKey({ kid, alg, kty, n, e, crv, x, y }: JsonWebKey) {
  const parameters = kty === 'RSA' ? { n, e } : { crv, x, y };
  return { kty, use: 'sig', alg, kid, ...parameters };
}
