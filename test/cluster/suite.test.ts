// The product on a real cluster: one release, from `helm install` on, in the order of an environment's life.
import { beforeAll, expect, test } from 'vitest';
import { arrows } from './arrows.ts';
import { throughTheIngress } from './browser.ts';
import { type Environment, prepareEnvironment, release } from './environment.ts';
import { failedMigration } from './failed-migration.ts';
import { figure, timed } from './figures.ts';
import { onBoarding } from './on-boarding.ts';
import { components, podsOf, residentOf } from './pods.ts';
import { rollouts } from './rollouts.ts';
import { rotations } from './rotations.ts';
import { secondEnvironment } from './second-environment.ts';
import { suddenDeaths } from './sudden-deaths.ts';
import { validation } from './validation.ts';

/** Two, so that one serves while another goes. */
const replicas = 2;

let installed: Environment;
const environment = () => installed;

beforeAll(async () => {
  installed = await timed('stores and Secrets', () => prepareEnvironment('one', replicas));
  await timed('helm install --wait, migrations and two pods each', () =>
    installed.kube.helm('install', ...installed.helmWordsBefore, '--wait', '--timeout=8m'),
  );
}, 600_000);

test('helm test', async () => {
  await timed('helm test', () => installed.kube.helm('test', release, '--timeout=5m'));
});

throughTheIngress(environment);
onBoarding(environment);
rollouts(environment, replicas);
suddenDeaths(environment, replicas);
arrows(environment);
rotations(environment);
failedMigration(environment);
secondEnvironment(environment);
validation();

test('the services hold little memory after all that', async () => {
  for (const component of components) {
    const sizes = await residentOf(
      installed.kube,
      component,
      await podsOf(installed.kube, release, component),
    );
    figure(`${component}: MiB resident at the end`, sizes.join(', '));
    for (const size of sizes) expect(size).toBeLessThan(256);
  }
});
