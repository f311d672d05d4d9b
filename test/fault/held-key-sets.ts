// Every key set that a client may have fetched, and the check of every token against each set that a client may
// still hold while the token lives (R17).
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import type { Moment } from './aged-clock.ts';

/** Seconds for which a client keeps a key set, and for which a token lives. */
const keySetLifetime = 300;
const tokenLifetime = 900;

export interface IssuedToken {
  readonly kind: 'access' | 'id';
  readonly jwt: string;
  readonly kid: string;
  readonly issuer: string;
  readonly audience: string;
  /** The pod that signed it; undefined: the gateway chose one. */
  readonly pod: string | undefined;
  /** Before it was asked for, and after it came. */
  readonly asked: Moment;
  readonly came: Moment;
}

export interface HeldKeySets {
  /** A client fetched `document` between the two moments. */
  readonly see: (document: string, asked: Moment, came: Moment) => void;
  /** Verifies `token` with every set that may be held in its life; the age of the oldest, in seconds. */
  readonly verify: (token: IssuedToken) => Promise<number>;
}

interface Sighting {
  readonly earliest: number;
  readonly latest: number;
}

const signed = {
  access: { algorithms: ['ES256'], typ: 'at+jwt' },
  id: { algorithms: ['RS256'], typ: 'JWT' },
};

export function openHeldKeySets(): HeldKeySets {
  const documents = new Map<string, { readonly keys: Keys; readonly sightings: Sighting[] }>();
  return {
    see: (document, asked, came) => {
      const known = documents.get(document) ?? { keys: keysOf(document), sightings: [] };
      known.sightings.push({ earliest: asked.earliest, latest: came.latest });
      documents.set(document, known);
    },
    verify: async (token) => {
      const held = [...documents.values()]
        .map(({ keys, sightings }) => ({ keys, since: heldSince(token, sightings) }))
        .filter(({ since }) => since !== undefined);
      if (held.length === 0) throw new Error('No key set was fetched that the token could be verified with.');
      for (const { keys } of held) await verifyWith(keys, token);
      return token.asked.earliest - Math.min(...held.map(({ since }) => since ?? Number.POSITIVE_INFINITY));
    },
  };
}

type Keys = ReturnType<typeof createLocalJWKSet>;

function keysOf(document: string): Keys {
  return createLocalJWKSet(JSON.parse(document) as JSONWebKeySet);
}

/** When the set was first fetched from 300 s before the token until the token's end; undefined: never. */
function heldSince({ asked, came }: IssuedToken, sightings: readonly Sighting[]): number | undefined {
  const [from, to] = [came.latest - keySetLifetime, asked.earliest + tokenLifetime];
  return sightings.find(({ earliest, latest }) => earliest >= from && latest <= to)?.earliest;
}

/** Rejects unless the signature is right and the claims are those of the kind; the token's time is the real one. */
async function verifyWith(
  keys: Keys,
  { jwt, kind, issuer, audience, kid, asked }: IssuedToken,
): Promise<void> {
  try {
    await jwtVerify(jwt, keys, { issuer, audience, ...signed[kind] });
  } catch (error) {
    throw new Error(`The ${kind} token of key ${kid}, asked for at ${asked.earliest}, is not verified.`, {
      cause: error,
    });
  }
}
