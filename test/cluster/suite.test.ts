// The product on a real cluster: one production release, with the values that docs/install.md names, from `helm install`
// on, in the order of an environment's life.
import { beforeAll, expect, test } from 'vitest';
import { throughTheIngress } from './browser.ts';
import { type Environment, prepareEnvironment } from './environment.ts';
import { figure, timed } from './figures.ts';
import { frozenProcesses } from './frozen-processes.ts';
import { untilLed } from './ingress.ts';
import { networkPaths } from './network-paths.ts';
import { onBoarding, populate } from './operator.ts';
import { podKills } from './pod-kill.ts';
import { components, podsOf, residentOf } from './pods.ts';
import { failedMigration, missingSecret, rollouts } from './rollouts.ts';
import { rotations } from './rotations.ts';
import { scraping } from './scraping.ts';
import { secondEnvironment, validation } from './second-environment.ts';
import { release } from './settings.ts';
import { sampling } from './traces.ts';
import { traefik } from './traefik.ts';

/** Two, so that one serves while another goes. */
const replicas = 2;

let installed: Environment;
const environment = () => installed;

beforeAll(async () => {
  installed = await timed('stores and Secrets', () => prepareEnvironment('production', replicas));
  await timed('helm install --wait, migrations and two pods each', () =>
    installed.kube.helm('install', ...installed.helmWordsBefore, '--wait', '--timeout=8m'),
  );
  installed = await timed('a partner, users and designs', () => populate(installed));
  await untilLed(installed.issuer);
}, 600_000);

test('helm test', async () => {
  await timed('helm test', () => installed.kube.helm('test', release, '--timeout=5m'));
});

throughTheIngress(environment);
onBoarding(environment);
rollouts(environment, replicas);
podKills(environment, replicas);
frozenProcesses(environment, replicas);
networkPaths(environment);
scraping(environment);
sampling();
traefik(environment, replicas);
rotations(environment);
missingSecret(environment);
failedMigration(environment);
secondEnvironment(environment);
validation();

test('the services hold little memory after all that', async () => {
  for (const component of components) {
    const sizes = await residentOf(installed.kube, component, await podsOf(installed.kube, component));
    figure(`${component}: MiB resident at the end`, sizes.join(', '));
    for (const size of sizes) expect(size).toBeLessThan(256);
  }
});
