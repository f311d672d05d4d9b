// Fetches the key set all the time, as partners do through the gateway and from each identity process itself.
import { setTimeout as sleep } from 'node:timers/promises';
import { DiscoveryService } from '@course-exchange/proto/identity/v1/discovery';
import { discover } from '../support/flow.ts';
import { send } from '../support/http.ts';
import type { System } from '../support/system.ts';
import type { AgedClock } from './aged-clock.ts';
import { callService } from './grpc-call.ts';
import type { HeldKeySets } from './held-key-sets.ts';

export interface KeySetWatch {
  /** Whether the pod's key set has these keys now, and no other. */
  readonly shows: (pod: string, kids: readonly string[]) => boolean;
  readonly stop: () => Promise<void>;
}

/** Tells `sets` of each that it sees. */
export async function watchKeySets(
  system: System,
  clock: AgedClock,
  sets: HeldKeySets,
): Promise<KeySetWatch> {
  const { jwks_uri } = await discover(system.stack.issuer);
  const shown = new Map<string, string>();
  let over = false;
  async function watch(fetch: () => Promise<string>, name?: string): Promise<void> {
    for (; !over; await sleep(50)) {
      const asked = clock.moment();
      const document = await fetch();
      sets.see(document, asked, clock.moment());
      const { keys } = JSON.parse(document) as { readonly keys: readonly { readonly kid: string }[] };
      if (name) shown.set(name, listed(keys.map(({ kid }) => kid)));
    }
  }
  const watches = Promise.all([
    watch(async () => (await send(jwks_uri)).text),
    ...system.pods.map(({ name, address }) => {
      const discovery = callService(DiscoveryService, address);
      return watch(async () => keySetDocument((await discovery.getKeySet({})).keys), name);
    }),
  ]);
  watches.catch(() => {});
  return {
    shows: (pod, kids) => shown.get(pod) === listed(kids),
    stop: async () => {
      over = true;
      await watches;
    },
  };
}

function listed(kids: readonly string[]): string {
  return [...kids].sort().join();
}

/** As the gateway writes it. */
function keySetDocument(keys: readonly Readonly<Record<string, unknown>>[]): string {
  const written = keys.map(({ kid, alg, kty, n, e, crv, x, y }) => ({
    kty,
    use: 'sig',
    alg,
    kid,
    ...(kty === 'RSA' ? { n, e } : { crv, x, y }),
  }));
  return JSON.stringify({ keys: written });
}
