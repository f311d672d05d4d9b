// SIGKILL of a pod's process in the middle of the load: what it may cost, and what it must not.
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Failure } from '../support/load/record.ts';
import type { Environment } from './environment.ts';
import { figure } from './figures.ts';
import { expectNoFailure, expectNoneFailed, expectNoReadFailed, underLoad } from './load.ts';
import { readyPods, rolledOut } from './pods.ts';
import { kill } from './signals.ts';

/** Seconds after which no load balancer may send to a dead pod any more. */
const forgotten = 15;

export function podKills(environment: () => Environment, replicas: number): void {
  async function die(component: 'gateway' | 'identity' | 'design-catalog') {
    const [pod] = await readyPods(environment(), component, replicas);
    if (!pod) throw new Error(`${component} has no pod.`);
    const moments: Date[] = [];
    const report = await underLoad(environment(), `load: SIGKILL of ${component}`, async () => {
      moments.push(await kill(pod));
      await sleep(forgotten * 1_000);
      await rolledOut(environment(), component);
    });
    const [after] = await readyPods(environment(), component, replicas).then((pods) =>
      pods.filter(({ name }) => name === pod.name),
    );
    expect(after?.restarts).toBe(pod.restarts + 1);
    return { report, killed: moments[0] ?? new Date(0) };
  }

  describe('SIGKILL', () => {
    test('of identity costs no read, and no token is spent twice', async () => {
      const { report } = await die('identity');
      expectNoReadFailed(report);
      expect(report.doubleSpends).toBe(0);
    });

    test('of design-catalog costs nothing', async () => {
      const { report } = await die('design-catalog');
      expectNoFailure(report);
    });

    test('of a gateway costs answers only until its endpoint is gone', async () => {
      const { report, killed } = await die('gateway');
      const delay = ({ at }: Failure) => (Date.parse(at) - killed.getTime()) / 1_000;
      const last = Math.max(0, ...report.failures.map(delay));
      figure(
        'SIGKILL of a gateway: failures',
        `${report.failures.length}, the last ${last.toFixed(1)} s after it`,
      );
      const late = report.failures.filter((failure) => delay(failure) >= forgotten);
      expectNoneFailed(late, report.operations.events);
      expect(report.doubleSpends).toBe(0);
    });
  });
}
