// A rotation of the signing keys, each step at another pod. The waits of a rotation (310 s staged, 960 s superseded) are made
// short by older rows; every pod has its 10 s to follow (R17.1), and the workload tells when one has not.
import { setTimeout as sleep } from 'node:timers/promises';
import { withClient } from '@course-exchange/local-stack/postgres';
import { KeyService, KeyState } from '@course-exchange/proto/operator/v1/key';
import { callService } from '../../support/grpc-client.ts';
import type { System } from '../../support/system.ts';

const followMs = 10_000;

export async function rotateKeys({ stack, pods }: System): Promise<void> {
  const services = pods.map(({ operator }) => callService(KeyService, operator));
  const old = new Set((await services[0]?.listKeys({}))?.keys.map(({ kid }) => kid));
  for (const [at, seconds] of [0, 310, 960].entries()) {
    await withClient(`${stack.postgres}`, (client) => client.query(older, [seconds]));
    await services[at % services.length]?.rotateKeys({ continueOnly: at > 0 });
    await sleep(followMs);
  }
  const { keys = [] } = (await services[0]?.listKeys({})) ?? {};
  const isOver = keys.every(({ state, kid }) => state === KeyState.ACTIVE && !old.has(kid));
  if (keys.length === 0 || !isOver) throw new Error('The old keys are not retired.');
}

const older = `update identity.signing_keys set published_at = published_at - make_interval(secs => $1),
  activated_at = activated_at - make_interval(secs => $1),
  superseded_at = superseded_at - make_interval(secs => $1)`;
