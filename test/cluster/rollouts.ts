// Pods come and go while partners go on: an upgrade of everything, a deleted pod, more and fewer pods, a rollback, and an
// upgrade whose migration fails.
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { chart, type Environment } from './environment.ts';
import { figure, timed } from './figures.ts';
import { eventually } from './kube.ts';
import { expectNoFailure, underLoad } from './load.ts';
import { allRolledOut, type Component, components, podNames, readyPods, rolledOut, workOf } from './pods.ts';
import { release } from './settings.ts';
import { secret } from './store-manifests.ts';
import { connectionAgeSeconds, secretNames } from './values.ts';

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
      const before = await podNames(environment().kube);
      const report = await underLoad(environment(), 'load: upgrade of all', () =>
        timed('upgrade of all, two pods each', async () => {
          await kube.helm('upgrade', ...helmWords, ...nextVersion('second'), '--wait', '--timeout=8m');
          await allRolledOut(environment());
        }),
      );
      const after = await podNames(environment().kube);
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

    test('a deleted pod of each, one after the other', async () => {
      const { kube } = environment();
      const report = await underLoad(environment(), 'load: a pod of each deleted', async () => {
        for (const component of components) {
          const [pod] = await readyPods(environment(), component, replicas);
          await kube.kubectl('delete', 'pod', pod?.name ?? '', '--timeout=90s');
          await rolledOut(environment(), component);
        }
      });
      expectNoFailure(report);
    });

    test('all going from 1 to 3 pods, where an autoscaler takes over, and back, and each pod works', async () => {
      const { kube } = environment();
      const upgrade = (...words: string[]) =>
        kube.helm('upgrade', release, chart, '--reuse-values', ...words, '--wait', '--timeout=5m');
      const shares = new Map<Component, readonly number[]>();
      const report = await underLoad(environment(), 'load: all from 1 to 3 to 1', async () => {
        await scale(environment(), 1);
        await scale(environment(), 3);
        const before = await podNames(kube);
        try {
          // As many at most as there are: what it added would hide what it dropped.
          await upgrade('--set=defaults.autoscaling.enabled=true', ...maxPods(3));
          await sleep(spreadSeconds * 1_000);
          for (const component of components) {
            const pods = await readyPods(environment(), component, 3);
            shares.set(component, await workOf(environment().kube, component, pods, connectionAgeSeconds));
          }
          const decided = await eventually(
            () => decisionsOf(environment()),
            (each) => each.every(Boolean),
            200,
          );
          expect(decided).toHaveLength(components.length);
          expect(await podNames(kube)).toEqual(before);
          figure('pods before and after autoscaling was turned on', `${before.length}, the same`);
        } finally {
          await upgrade('--set=defaults.autoscaling.enabled=false');
        }
        await scale(environment(), 1);
        await scale(environment(), replicas);
      });
      for (const [component, share] of shares) {
        figure(
          `${component}: pieces of work of each of 3 pods in ${connectionAgeSeconds} s`,
          share.join(', '),
        );
        const fair = share.reduce((sum, count) => sum + count, 0) / 3;
        for (const count of share) expect(count, component).toBeGreaterThan(fair / 3);
      }
      expectNoFailure(report);
    });
  });
}

function maxPods(count: number): readonly string[] {
  return ['defaults', 'gateway'].map((name) => `--set=${name}.autoscaling.maxReplicas=${count}`);
}

/** Of each autoscaler of the release, whether it has seen metrics and decided. */
async function decisionsOf({ kube }: Environment): Promise<readonly boolean[]> {
  const { items } = await kube.get<{ items: readonly Autoscaler[] }>('horizontalpodautoscalers');
  return items.map(
    ({ status }) =>
      status?.conditions?.some(({ type, status }) => type === 'ScalingActive' && status === 'True') ?? false,
  );
}

interface Autoscaler {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** One component after the other: on a node of two cores all new pods at once would take them from those that work. */
async function scale(environment: Environment, replicas: number): Promise<void> {
  for (const component of components) {
    const deployment = `deployment/${release}-${component}`;
    await environment.kube.kubectl('scale', deployment, `--replicas=${replicas}`);
    await rolledOut(environment, component);
    await readyPods(environment, component, replicas);
  }
}

/** Helm asks the cluster; what renders without one asks nothing. */
export function missingSecret(environment: () => Environment): void {
  test('a missing Secret is said at once, and no pod changes', async () => {
    const { kube, helmWords } = environment();
    const before = await podNames(kube);
    const name = 'course-exchange-redis-of-tomorrow';
    const lacking = [...helmWords, `--set=redis.existingSecret=${name}`];
    const report = await underLoad(environment(), 'load: upgrade whose Secret is missing', async () => {
      const refused = await timed('helm names a missing Secret', () =>
        kube.tryHelm('upgrade', ...lacking, '--wait', '--timeout=8m'),
      );
      expect(refused.code).not.toBe(0);
      expect(refused.errors).toContain(
        `Secret ${name} is missing in namespace ${kube.namespace}: create it with password`,
      );
      for (const render of [['template'], ['upgrade', '--dry-run=client']])
        expect(await kube.helm(...render, ...lacking)).toContain(`name: ${name}`);
    });
    // Helm's own time-out is eight minutes, the Job's ten.
    expect(report.seconds).toBeLessThan(120);
    expect(await podNames(kube)).toEqual(before);
    expectNoFailure(report);
  });
}

/** The version before goes on, the Job says why, and the next upgrade mends it. */
export function failedMigration(environment: () => Environment): void {
  test('a migration that fails changes no pod, says why, and is mended by the next upgrade', async () => {
    const { kube, helmWords, prepare } = environment();
    const accounts = ['identity_migrator', 'catalog_migrator'].map((name) => secretNames.role(name));
    const pods = () => podNames(environment().kube);
    const before = await pods();
    const report = await underLoad(environment(), 'load: upgrade whose migration fails', async () => {
      // A fault of each service: both are told, before either migrates.
      await kube.apply(...accounts.map((account) => secret(account, { password: 'not the password' })));
      const failed = await kube.tryHelm('upgrade', ...helmWords, '--wait', '--timeout=3m');
      expect(failed.code).not.toBe(0);
      expect(failed.errors).toMatch(/pre-upgrade hooks failed/);
      // Containers that never started have no log, which kubectl takes for a failure.
      const { output: said } = await kube.tryKubectl([
        'logs',
        `job/${release}-migrations`,
        '--all-containers',
        '--ignore-errors',
      ]);
      console.log(said);
      const failures = said.split('\n').filter((line) => line.includes('"check failed"'));
      const sentences = failures.map((line) => /"sentence":"([^"]*)"/.exec(line)?.[1]);
      expect(sentences.sort()).toEqual([
        expect.stringMatching(/catalog_migrator/),
        expect.stringMatching(/identity_migrator/),
      ]);
      figure('the Job of a failed migration says', sentences.join(' '));
      expect(await pods()).toEqual(before);
      await kube.kubectl('delete', 'secret', ...accounts);
      const made = (await prepare()).split('\n').filter((line) => line.endsWith(' created'));
      expect(made).toEqual(accounts.map((account) => `secret/${account} created`));
      await kube.helm('upgrade', ...helmWords, '--wait', '--timeout=5m');
      await allRolledOut(environment());
    });
    const { info } = JSON.parse(await kube.helm('status', release, '--output=json')) as {
      info: { status: string };
    };
    expect(info.status).toBe('deployed');
    expectNoFailure(report);
  });
}
