// A second environment in a namespace of its own: neither touches the other, and an uninstall leaves what is the operator's.
import { people } from '@course-exchange/local-stack/demo-people';
import { describe, expect, test } from 'vitest';
import { discover } from '../support/flow.ts';
import { send } from '../support/http.ts';
import { connect } from '../support/load/families.ts';
import { openUserAgent } from '../support/user-agent.ts';
import { type Environment, prepareEnvironment, release } from './environment.ts';
import { figure, timed } from './figures.ts';
import type { Kube } from './kube.ts';
import { loadPartner } from './load.ts';

/** What the cluster itself makes and ends. */
const fleeting =
  /^(events|events\.events\.k8s\.io|endpointslices\.discovery\.k8s\.io|endpoints|pods|pods\.metrics\.k8s\.io|replicasets\.apps|controllerrevisions\.apps|leases\.coordination\.k8s\.io)$/;

export function secondEnvironment(environment: () => Environment): void {
  describe('a second environment', () => {
    test('does not accept the first one’s tokens, and its uninstall leaves what is the operator’s', async () => {
      const other = await timed('stores and Secrets of a second environment', () =>
        prepareEnvironment('two', 1),
      );
      const owned = await objectsOf(other.kube);
      await timed('helm install --wait, a pod each', () =>
        other.kube.helm('install', ...other.helmWords, '--wait', '--timeout=5m'),
      );
      for (const [from, to] of [
        [environment(), other],
        [other, environment()],
      ] as const) {
        const access = await accessToken(from.issuer);
        expect(await eventsStatus(from.issuer, access)).toBe(200);
        expect(await eventsStatus(to.issuer, access)).toBe(401);
      }
      await other.kube.helm('uninstall', release, '--wait', '--timeout=3m');
      await expect.poll(() => objectsOf(other.kube), { timeout: 60_000 }).toEqual(owned);
      figure('objects before the install and after the uninstall', `${owned.length}, the same`);
      expect(await eventsStatus(environment().issuer, await accessToken(environment().issuer))).toBe(200);
    });
  });
}

async function accessToken(issuer: string): Promise<string> {
  const at = { discovery: await discover(issuer), partner: loadPartner };
  expect(at.discovery.issuer).toBe(issuer);
  return (await connect(at, openUserAgent(issuer), people.typical)).access;
}

async function eventsStatus(issuer: string, access: string): Promise<number> {
  const headers = { authorization: `Bearer ${access}` };
  return (await send(`${issuer}/api/events`, { headers })).status;
}

/** Everything in the namespace that lasts, by kind and name. */
async function objectsOf(kube: Kube): Promise<readonly string[]> {
  const listed = await kube.kubectl('api-resources', '--namespaced', '--verbs=list', '--output=name');
  const kinds = listed
    .trim()
    .split('\n')
    .filter((kind) => !fleeting.test(kind));
  const found = await kube.kubectl('get', kinds.join(','), '--output=name', '--ignore-not-found');
  return found.trim().split('\n').sort();
}
