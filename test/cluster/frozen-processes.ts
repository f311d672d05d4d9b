// A process that stands still under load, and takes connections as before: the replica of Redis, one of two pods.
import { describe, expect, test } from 'vitest';
import { allowConnections } from '../support/http.ts';
import { everyFamilyWaits } from '../support/load/load.ts';
import type { Failure } from '../support/load/record.ts';
import type { Environment } from './environment.ts';
import { figure } from './figures.ts';
import { expectNoneFailed, expectNoReadFailed, type LoadOutcome, underLoad } from './load.ts';
import { type Component, readyPods, rolledOut } from './pods.ts';
import { release } from './settings.ts';
import { freeze } from './signals.ts';

export function frozenProcesses(environment: () => Environment, replicas: number): void {
  async function freezePod(component: Component, seconds: number) {
    const [pod] = await readyPods(environment(), component, replicas);
    if (!pod) throw new Error(`${component} has no pod.`);
    const outcome = await frozen(environment(), component, pod, seconds);
    const pods = await readyPods(environment(), component, replicas);
    expect(pods.find(({ name }) => name === pod.name)?.restarts).toBe(pod.restarts);
    expect(outcome.report.doubleSpends).toBe(0);
    return outcome;
  }

  describe('a process stands still', () => {
    test('the replica of Redis: no token is lost but those between write and WAIT, and none accepted twice', async () => {
      // So few that families are left to ask with when the lack is known: each refusal keeps one waiting.
      const few = { refresh: 5 };
      const { report, delay } = await frozen(environment(), 'the replica of Redis', await replica(), 8, few);
      expect(report.doubleSpends).toBe(0);
      expectNoReadFailed(report);
      const tokens = asked(report).filter(({ operation }) => operation !== 'login');
      expect(tokens.filter(({ what }) => !/\b503\b/.test(what))).toEqual([]);
      const late = tokens.filter((failure) => delay(failure) > knownAfter);
      figure('the replica of Redis frozen: refreshes refused once its lack was known', String(late.length));
      expect(late.length).toBeGreaterThan(0);
      expect(report.lost.filter((failure) => delay(failure) > knownAfter)).toEqual([]);
    });

    test('one of two identity: failures end within five seconds, over streams and over unary calls', async () => {
      try {
        for (const calls of ['streams', 'unary']) {
          await callBy(calls);
          // Two of its own (decision 0029).
          expectLeft(await freezePod('identity', 10), 5);
        }
      } finally {
        await callBy('streams');
      }
    });

    test('one of two gateways: the ingress asks it no longer once it is not ready', async () => {
      // What hangs is not to keep the load itself from asking.
      allowConnections(1_000);
      expectLeft(await freezePod('gateway', 30), 15);
    });
  });

  async function callBy(calls: string): Promise<void> {
    const deployment = `deployment/${release}-gateway`;
    await environment().kube.kubectl('set', 'env', deployment, `RPC_CALLS=${calls}`);
    await rolledOut(environment(), 'gateway');
  }

  async function replica() {
    const columns = '--output=jsonpath={.items[0].metadata.uid} {.items[0].spec.nodeName}';
    const said = await environment().kube.kubectl('get', 'pods', '--selector=app=redis-replica', columns);
    const [uid = '', node = ''] = said.split(' ');
    return { uid, node, program: 'redis-server' };
  }
}

/** Seconds after which the connections of both pods know the lack: a WAIT of 0.5 s, another behind it, and a busy node. */
const knownAfter = 4;

/** `delay`: seconds from the SIGSTOP to the beginning of what failed; `meanwhile`: what failed of that begun before the SIGCONT. */
async function frozen(
  environment: Environment,
  what: string,
  process: Parameters<typeof freeze>[0],
  seconds: number,
  perSecond: Parameters<typeof underLoad>[3] = {},
) {
  let [stopped, woken] = [new Date(0), new Date(0)];
  const work = async () => {
    [stopped, woken] = await freeze(process, seconds);
  };
  const report = await underLoad(environment, `load: ${what} frozen for ${seconds} s`, work, perSecond);
  const begun = ({ at, took }: Failure) => Date.parse(at) - took;
  const delay = (failure: Failure) => (begun(failure) - stopped.getTime()) / 1_000;
  const failed = asked(report);
  const meanwhile = failed.filter((failure) => begun(failure) < woken.getTime());
  const last = Math.max(0, ...meanwhile.map(delay));
  figure(
    `${what} frozen: failures begun meanwhile, afterwards, tokens lost`,
    `${meanwhile.length}, the last ${last.toFixed(1)} s after SIGSTOP; ` +
      `${failed.length - meanwhile.length}; ${report.lost.length}`,
  );
  return { report, delay, meanwhile };
}

/** From `seconds` after the SIGSTOP to the SIGCONT nothing fails but what a busy node refuses. */
function expectLeft({ report, delay, meanwhile }: Awaited<ReturnType<typeof frozen>>, seconds: number) {
  const late = meanwhile.filter((failure) => delay(failure) >= seconds);
  expectNoneFailed(late, report.operations.events);
}

function asked({ failures }: LoadOutcome): readonly Failure[] {
  return failures.filter(({ what }) => what !== everyFamilyWaits);
}
