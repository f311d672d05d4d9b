// What `helm test` runs: the contract suite, with the Secret's partners or with the demo data.
import { expect, test } from 'vitest';
import { nameOf, ofKind, podsOf } from './objects.ts';
import { helm, type KubernetesObject, objectsOf } from './render.ts';
import { filesOf, objectsOfSet } from './value-sets.ts';

const withHelm = test.skipIf(helm === '');

function testPodOf(objects: readonly KubernetesObject[]): KubernetesObject {
  const pod = podsOf(objects).find(({ component }) => component === 'contract-tests');
  const variables: readonly KubernetesObject[] = pod?.spec.containers[0].env ?? [];
  return {
    variables: Object.fromEntries(variables.map(({ name, value }) => [name, value])),
    volumes: (pod?.spec.volumes ?? []).map(({ name }: KubernetesObject) => name),
  };
}

function policiesOf(objects: readonly KubernetesObject[]): readonly string[] {
  return ofKind(objects, 'NetworkPolicy').map(nameOf);
}

const policy = 'NetworkPolicy/environment-course-exchange-contract-tests';

withHelm('with the demo partner it tests the demo data', async () => {
  const objects = await objectsOfSet('test-hosts');
  expect(testPodOf(objects)).toEqual({
    variables: {
      CONTRACT_DEMO: 'true',
      CONTRACT_DEMO_PARTNER_URL: 'https://planner.test.exchange.courses-of-the-north.net',
      CONTRACT_ISSUER: 'https://test.exchange.courses-of-the-north.net',
      CONTRACT_BASE_URL: 'http://environment-course-exchange-gateway.exchange.svc.cluster.local:8080',
    },
    volumes: ['temporary'],
  });
  expect(policiesOf(objects)).toContain(policy);
});

withHelm('with a Secret it tests the partners in there', async () => {
  const { variables, volumes } = testPodOf(await objectsOfSet('test-everything-values'));
  expect(variables.CONTRACT_STACK).toBe('/run/course-exchange/stack/stack.json');
  expect(Object.keys(variables).filter((name) => name.startsWith('CONTRACT_DEMO'))).toEqual([]);
  expect(volumes).toContain('stack');
});

withHelm('without either there is no test', async () => {
  const objects = await objectsOfSet('test-minimal-values');
  expect(testPodOf(objects)).toEqual({ variables: {}, volumes: [] });
  expect(policiesOf(objects)).not.toContain(policy);
});

withHelm('values of a release that knew none of the newer values are enough', async () => {
  const values = { tests: null, metrics: null, telemetry: null, httpRoute: null };
  const newer = {
    listenAddress: null,
    networkPolicy: { dnsPorts: null },
    ingress: { limits: { controller: null } },
  };
  const objects = await objectsOf({ files: filesOf('test-minimal-values'), values: { ...values, ...newer } });
  expect(objects).toEqual(await objectsOfSet('test-minimal-values'));
});
