// A rotation of the signing keys, each step at another pod. The waits of a rotation (310 s staged, 960 s superseded) are made
// short by older rows. What the pods do by themselves takes its time.
import { withClient } from '@course-exchange/local-stack/postgres';
import { DiscoveryService } from '@course-exchange/proto/identity/v1/discovery';
import { KeyService, KeyState } from '@course-exchange/proto/operator/v1/key';
import { createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose';
import { until } from '../../stores/redis-servers.ts';
import { openCaller } from '../../support/caller.ts';
import { tokensOf } from '../../support/flow.ts';
import { callService } from '../../support/grpc-client.ts';
import { send } from '../../support/http.ts';
import type { System } from '../../support/system.ts';

/** Every pod follows within 10 s (R17.1). */
const followMs = 10_000;

export async function rotateKeys({ stack, pods }: System): Promise<void> {
  const services = pods.map(({ operator }) => callService(KeyService, operator));
  const [first, last] = [services.at(0), services.at(-1)] as const;
  if (first === undefined || last === undefined) throw new Error('There is no pod.');
  const published = async () => (await first.listKeys({})).keys;
  const discoveries = pods.map(({ address }) => callService(DiscoveryService, address));
  const isFollowed = async () => {
    const wanted = listed(await published());
    const sets = await Promise.all(discoveries.map((discovery) => discovery.getKeySet({})));
    return sets.every(({ jwks }) => listed(JSON.parse(jwks).keys) === wanted);
  };
  const untilPublished = () => until('each pod publishes the keys', isFollowed, followMs);
  const age = (seconds: number) =>
    withClient(`${stack.postgres}`, (client) =>
      client.query(
        `update identity.signing_keys set published_at = published_at - make_interval(secs => $1),
           activated_at = activated_at - make_interval(secs => $1),
           superseded_at = superseded_at - make_interval(secs => $1)`,
        [seconds],
      ),
    );

  await first.rotateKeys({});
  await untilPublished();
  await age(310);
  await last.rotateKeys({ continueOnly: true });
  const active = (await published()).filter(({ state }) => state === KeyState.ACTIVE);
  const caller = await openCaller(stack);
  const isNew = (jwt: string) => active.some(({ kid }) => kid === decodeProtectedHeader(jwt).kid);
  const areTokensNew = async () => {
    let tokens = await caller.newTokens();
    // The gateway asks the pods in turn.
    for (let more = 10 * pods.length; more > 0 && isNew(tokens.access_token); more -= 1)
      tokens = tokensOf(await caller.refresh(tokens.refresh_token));
    return isNew(tokens.access_token);
  };
  await until('each pod signs with the new keys', areTokensNew, followMs);
  const doesIdTokenVerify = async () => {
    const { id_token = '' } = await caller.newTokens();
    const keySet: JSONWebKeySet = JSON.parse((await send(caller.discovery.jwks_uri)).text);
    return jwtVerify(id_token, createLocalJWKSet(keySet)).then(
      () => isNew(id_token),
      () => false,
    );
  };
  await until('an ID token verifies by the published keys', doesIdTokenVerify, followMs);
  await age(960);
  await first.rotateKeys({ continueOnly: true });
  if ((await published()).length !== active.length) throw new Error('The old keys are not retired.');
  await untilPublished();
}

const listed = (keys: readonly { readonly kid: string }[]) =>
  keys
    .map(({ kid }) => kid)
    .toSorted()
    .join();
