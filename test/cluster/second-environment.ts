// A second environment in a namespace of its own: neither touches the other, and an uninstall leaves what is the operator's.
import { join } from 'node:path';
import { demoUsers } from '@course-exchange/local-stack/demo-accounts';
import { describe, expect, test } from 'vitest';
import { filesOf, valueSets } from '../chart/value-sets.ts';
import { discover } from '../support/flow.ts';
import { send } from '../support/http.ts';
import { connect } from '../support/load/families.ts';
import { openUserAgent } from '../support/user-agent.ts';
import { expectRefusedByHttp } from './browser.ts';
import { chart, type Environment, makeNamespace, prepareEnvironment } from './environment.ts';
import { figure, timed } from './figures.ts';
import { untilLed } from './ingress.ts';
import { eventually, type Kube } from './kube.ts';
import { release } from './settings.ts';
import { expectTraceThroughAll, startTraces } from './traces.ts';

/** What the cluster itself makes and ends. */
const fleeting =
  /^(events|events\.events\.k8s\.io|endpointslices\.discovery\.k8s\.io|endpoints|pods|pods\.metrics\.k8s\.io|replicasets\.apps|controllerrevisions\.apps|leases\.coordination\.k8s\.io)$/;

export function secondEnvironment(environment: () => Environment): void {
  describe('a second environment', () => {
    test('of kind test: does not accept the first one’s tokens, and its uninstall leaves what is the operator’s', async () => {
      const observer = await startTraces();
      const other = await timed('stores and Secrets of a second environment', () =>
        prepareEnvironment('test', 1),
      );
      const owned = await eventually(
        () => objectsOf(other.kube),
        () => true,
      );
      await timed('helm install --wait, a pod each', () =>
        other.kube.helm('install', ...other.helmWords, '--wait', '--timeout=5m'),
      );
      await untilLed(other.issuer);
      for (const [from, to] of [
        [environment(), other],
        [other, environment()],
      ] as const) {
        const access = await accessToken(from);
        expect(await eventsStatus(from.issuer, access)).toBe(200);
        expect(await eventsStatus(to.issuer, access)).toBe(401);
      }
      await expectRefusedByHttp(other);
      if (observer) await expectTraceThroughAll(observer, other);
      await other.kube.helm('uninstall', release, '--wait', '--timeout=3m');
      await expect.poll(() => objectsOf(other.kube), { timeout: 60_000 }).toEqual(owned);
      figure('objects before the install and after the uninstall', `${owned.length}, the same`);
      expect(await eventsStatus(environment().issuer, await accessToken(environment()))).toBe(200);
    });
  });
}

async function accessToken({ issuer, partner }: Environment): Promise<string> {
  const at = { discovery: await discover(issuer), partner };
  expect(at.discovery.issuer).toBe(issuer);
  return (await connect(at, openUserAgent(issuer), demoUsers.typical)).access;
}

async function eventsStatus(issuer: string, access: string): Promise<number> {
  const headers = { authorization: `Bearer ${access}` };
  return (await send(`${issuer}/api/events`, { headers })).status;
}

/** Everything in the namespace that lasts, by kind and name. Rejects while a server of further kinds, such as metrics, is away. */
async function objectsOf(kube: Kube): Promise<readonly string[]> {
  const listed = await kube.kubectl('api-resources', '--namespaced', '--verbs=list', '--output=name');
  const kinds = listed
    .trim()
    .split('\n')
    .filter((kind) => !fleeting.test(kind));
  const found = await kube.kubectl('get', kinds.join(','), '--output=name', '--ignore-not-found');
  return found.trim().split('\n').sort();
}

export function validation(): void {
  describe('the API server accepts', () => {
    test.each(valueSets)('what the values %s render', async (name) => {
      const kube = await makeNamespace('empty', 'restricted');
      const values = filesOf(name).map((file) => `--values=${join(chart, file)}`);
      const rendered = await kube.helm('template', 'validated', chart, ...values);
      const known = rendered
        .split(/^---$/m)
        .filter((object) => !needsDefinition(object) && /^kind:/m.test(object));
      expect(known.length).toBeGreaterThan(3);
      const tried = ['apply', '--dry-run=server', '--server-side', '--force-conflicts', '--filename=-'];
      const { code, errors } = await kube.tryKubectl(tried, known.join('\n---\n'));
      expect({ code, errors: errors.replace(/^Warning: .*$/gm, '').trim() }).toEqual({ code: 0, errors: '' });
    });
  });
}

/** Kinds that a cluster knows only by a CustomResourceDefinition. */
function needsDefinition(object: string): boolean {
  return /^apiVersion: (cert-manager\.io|monitoring\.coreos\.com|gateway\.networking\.k8s\.io|external-secrets\.io)\//m.test(
    object,
  );
}
