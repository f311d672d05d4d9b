// Pods come and go while partners go on: an upgrade of everything, a deleted pod, more and fewer pods, a rollback.
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { type Environment, release } from './environment.ts';
import { figure, timed } from './figures.ts';
import { expectNoFailure, underLoad } from './load.ts';
import { type Component, components, podsOf, workOf } from './pods.ts';
import { connectionAgeSeconds } from './values.ts';
import { allRolledOut, readyPods, rolledOut } from './waiting.ts';

/** Seconds within which every pod of a component has its share of the work. */
const spreadSeconds = connectionAgeSeconds + 15;

/** Words that change every pod, also where both versions have the same images. */
function nextVersion(mark: string): readonly string[] {
  const annotated = components.map((component) => {
    const key = component === 'design-catalog' ? 'designCatalog' : component;
    return `${key}.podAnnotations.course-exchange\\.test/version=${mark}`;
  });
  return ['--set-string', annotated.join(',')];
}

export function rollouts(environment: () => Environment, replicas: number): void {
  describe('partners do not notice', () => {
    test('an upgrade of all three services', async () => {
      const { kube, helmWords } = environment();
      const before = await podNames(environment());
      const report = await underLoad(environment(), 'load: upgrade of all', () =>
        timed('upgrade of all, two pods each', async () => {
          await kube.helm('upgrade', ...helmWords, ...nextVersion('second'), '--wait', '--timeout=8m');
          await allRolledOut(environment());
        }),
      );
      const after = await podNames(environment());
      expect(after.filter((name) => before.includes(name))).toEqual([]);
      expectNoFailure(report);
    });

    test('a rollback of the release, and forward again', async () => {
      const { kube, helmWords } = environment();
      const report = await underLoad(environment(), 'load: rollback, and forward again', async () => {
        await timed('rollback', async () => {
          await kube.helm('rollback', release, '1', '--wait', '--timeout=8m');
          await allRolledOut(environment());
        });
        await kube.helm('upgrade', ...helmWords, ...nextVersion('third'), '--wait', '--timeout=8m');
        await allRolledOut(environment());
      });
      expectNoFailure(report);
    });

    test.each(components)('a deleted pod of %s', async (component) => {
      const { kube } = environment();
      const [pod] = await readyPods(environment(), component, replicas);
      const report = await underLoad(environment(), `load: pod of ${component} deleted`, async () => {
        await kube.kubectl('delete', 'pod', pod?.name ?? '', '--timeout=90s');
        await rolledOut(environment(), component);
      });
      expectNoFailure(report);
    });

    test.each(components)('%s going from 1 to 3 pods and back, and each pod works', async (component) => {
      const shares: (readonly number[])[] = [];
      const report = await underLoad(environment(), `load: ${component} from 1 to 3 to 1`, async () => {
        await scale(environment(), component, 1);
        const pods = await scale(environment(), component, 3);
        await sleep(spreadSeconds * 1_000);
        shares.push(await workOf(environment().kube, component, pods, connectionAgeSeconds));
        await scale(environment(), component, 1);
        await scale(environment(), component, replicas);
      });
      const [share = []] = shares;
      figure(`${component}: pieces of work of each of 3 pods in ${connectionAgeSeconds} s`, share.join(', '));
      const fair = share.reduce((sum, count) => sum + count, 0) / 3;
      for (const count of share) expect(count).toBeGreaterThan(fair / 3);
      expectNoFailure(report);
    });
  });
}

async function scale(environment: Environment, component: Component, replicas: number) {
  const deployment = `deployment/${release}-${component}`;
  await environment.kube.kubectl('scale', deployment, `--replicas=${replicas}`);
  await rolledOut(environment, component);
  return readyPods(environment, component, replicas);
}

async function podNames({ kube }: Environment): Promise<readonly string[]> {
  const pods = await Promise.all(components.map((component) => podsOf(kube, release, component)));
  return pods.flat().map(({ name }) => name);
}
