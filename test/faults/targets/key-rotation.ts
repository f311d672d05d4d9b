// A rotation of the signing keys, each step at another pod. The waits of a rotation (310 s staged, 960 s superseded) are made
// short by older rows. What the pods do by themselves takes its time.
import { withClient } from '@course-exchange/local-stack/postgres';
import { DiscoveryService } from '@course-exchange/proto/identity/v1/discovery';
import { KeyService, KeyState } from '@course-exchange/proto/operator/v1/key';
import { decodeProtectedHeader } from 'jose';
import { until } from '../../stores/redis-servers.ts';
import { openCaller } from '../../support/caller.ts';
import { tokensOf } from '../../support/flow.ts';
import { callService } from '../../support/grpc-client.ts';
import type { System } from '../../support/system.ts';

/** Every pod follows within 10 s (R17.1). */
const followMs = 10_000;

export async function rotateKeys({ stack, pods }: System): Promise<void> {
  const services = pods.map(({ operator }) => callService(KeyService, operator));
  const [first, last] = [services.at(0), services.at(-1)] as const;
  if (first === undefined || last === undefined) throw new Error('There is no pod.');
  const kidsIn = async (state: KeyState) => {
    const { keys } = await first.listKeys({});
    return keys.filter((key) => key.state === state).map(({ kid }) => kid);
  };
  const discoveries = pods.map(({ address }) => callService(DiscoveryService, address));
  const untilPublished = (...kids: readonly string[]) =>
    until(
      'each pod publishes these keys alone',
      async () => {
        const sets = await Promise.all(discoveries.map((discovery) => discovery.getKeySet({})));
        return sets.every(({ jwks }) => kidsOf(jwks) === kids.toSorted().join());
      },
      followMs,
    );
  const age = (seconds: number) =>
    withClient(`${stack.postgres}`, (client) =>
      client.query(
        `update identity.signing_keys set published_at = published_at - make_interval(secs => $1),
           activated_at = activated_at - make_interval(secs => $1),
           superseded_at = superseded_at - make_interval(secs => $1)`,
        [seconds],
      ),
    );

  const old = await kidsIn(KeyState.ACTIVE);
  await first.rotateKeys({});
  const fresh = await kidsIn(KeyState.STAGED);
  await untilPublished(...old, ...fresh);
  await age(310);
  await last.rotateKeys({ continueOnly: true });
  const caller = await openCaller(stack);
  const isFresh = (jwt: string) => fresh.includes(`${decodeProtectedHeader(jwt).kid}`);
  await until(
    'each pod signs with the new keys',
    async () => {
      let tokens = await caller.newTokens();
      // The gateway asks the pods in turn.
      for (let more = 10 * pods.length; more > 0 && isFresh(tokens.access_token); more -= 1)
        tokens = tokensOf(await caller.refresh(tokens.refresh_token));
      return isFresh(tokens.access_token);
    },
    followMs,
  );
  await age(960);
  await first.rotateKeys({ continueOnly: true });
  await untilPublished(...fresh);
}

function kidsOf(jwks: string): string {
  const { keys } = JSON.parse(jwks) as { readonly keys: readonly { readonly kid: string }[] };
  return keys
    .map(({ kid }) => kid)
    .toSorted()
    .join();
}
