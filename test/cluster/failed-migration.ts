// An upgrade whose migration fails: the version before goes on, the Job says why, and the next upgrade mends it.
import { expect, test } from 'vitest';
import { type Environment, release } from './environment.ts';
import { figure } from './figures.ts';
import { expectNoFailure, underLoad } from './load.ts';
import { components, podsOf } from './pods.ts';
import { secret } from './store-manifests.ts';
import { secretNames } from './values.ts';
import { allRolledOut } from './waiting.ts';

export function failedMigration(environment: () => Environment): void {
  test('a migration that fails changes no pod, says why, and is mended by the next upgrade', async () => {
    const { kube, helmWords, stores } = environment();
    const account = secretNames.role('identity_migrator');
    const pods = () => podNames(environment());
    const before = await pods();
    const report = await underLoad(environment(), 'load: upgrade whose migration fails', async () => {
      await kube.apply(secret(account, { username: 'identity_migrator', password: 'not the password' }));
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
      const sentences = failures.map((line) => /"sentence":"(.*?)"\}/.exec(line)?.[1]);
      expect(sentences).toEqual([expect.stringMatching(/identity_migrator/)]);
      figure('the Job of a failed migration says', sentences.join(' '));
      expect(await pods()).toEqual(before);
      const right = { username: 'identity_migrator', password: stores.rolePasswords.identity_migrator };
      await kube.apply(secret(account, right));
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

async function podNames({ kube }: Environment): Promise<readonly string[]> {
  const pods = await Promise.all(components.map((component) => podsOf(kube, release, component)));
  return pods
    .flat()
    .map(({ name }) => name)
    .sort();
}
