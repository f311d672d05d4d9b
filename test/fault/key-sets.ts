// Every key set that a client may have fetched, and the check of every token against each set that a client may
// still hold while the token lives (R17).
import { setTimeout as sleep } from 'node:timers/promises';
import { DiscoveryService } from '@course-exchange/proto/identity/v1/discovery';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { discover } from '../support/flow.ts';
import { callService } from '../support/grpc-client.ts';
import { send } from '../support/http.ts';
import type { System } from '../support/system.ts';
import type { AgedClock, Moment } from './aged-clock.ts';

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
  /** When it was asked for (`performance.now()`). */
  readonly at: number;
}

export type HeldKeySets = ReturnType<typeof openHeldKeySets>;

/** What was found at a pod, and when it was asked (`performance.now()`). */
export interface Look {
  readonly at: number;
  readonly isThere: boolean;
}

interface Sighting {
  readonly earliest: number;
  readonly latest: number;
}

const signed = {
  access: { algorithms: ['ES256'], typ: 'at+jwt' },
  id: { algorithms: ['RS256'], typ: 'JWT' },
};

export function openHeldKeySets() {
  const documents = new Map<string, { readonly keys: Keys; readonly sightings: Sighting[] }>();
  return {
    /** A client fetched `document` between the two moments. */
    see: (document: string, asked: Moment, came: Moment) => {
      const known = documents.get(document) ?? { keys: keysOf(document), sightings: [] };
      known.sightings.push({ earliest: asked.earliest, latest: came.latest });
      documents.set(document, known);
    },
    /** Verifies `token` with every set that may be held in its life; the age of the oldest, in seconds. */
    verify: async (token: IssuedToken) => {
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

/** Tells `sets` of each that it sees. */
export async function watchKeySets(system: System, clock: AgedClock, sets: HeldKeySets) {
  const { jwks_uri } = await discover(system.stack.issuer);
  const shown = new Map<string, { readonly keys: string; readonly at: number }>();
  let over = false;
  async function watch(fetch: () => Promise<string>, name?: string): Promise<void> {
    for (; !over; await sleep(50)) {
      const [asked, at] = [clock.moment(), performance.now()];
      const document = await fetch();
      sets.see(document, asked, clock.moment());
      const { keys } = JSON.parse(document) as { readonly keys: readonly { readonly kid: string }[] };
      if (name) shown.set(name, { keys: listed(keys.map(({ kid }) => kid)), at });
    }
  }
  const watches = Promise.all([
    watch(async () => (await send(jwks_uri)).text),
    ...system.pods.map(({ name, address }) => {
      const discovery = callService(DiscoveryService, address);
      return watch(async () => (await discovery.getKeySet({})).jwks, name);
    }),
  ]);
  watches.catch(() => {});
  return {
    /** Whether the pod's key set has these keys and no other, and when it was asked last. */
    shows: (pod: string, kids: readonly string[]): Look => {
      const last = shown.get(pod);
      return { at: last?.at ?? 0, isThere: last?.keys === listed(kids) };
    },
    stop: async () => {
      over = true;
      await watches;
    },
  };
}

function listed(kids: readonly string[]): string {
  return [...kids].sort().join();
}
