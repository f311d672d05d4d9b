// An API server for Helm's `lookup`: it knows the objects that a test gives it, and nothing else.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { KubernetesObject } from './render.ts';

const resources: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '/api/v1': { secrets: 'Secret', serviceaccounts: 'ServiceAccount' },
  '/apis/apps/v1': { deployments: 'Deployment' },
  '/apis/autoscaling/v2': { horizontalpodautoscalers: 'HorizontalPodAutoscaler' },
};

/** A Secret with these keys, whatever their content. */
export const secretOf = (name: string, keys: readonly string[], namespace = 'exchange'): KubernetesObject => {
  const data = Object.fromEntries(keys.map((key) => [key, 'eA==']));
  return { kind: 'Secret', metadata: { name, namespace }, data };
};

/** What `ask` answers, given the address of a server that ends with it. */
export async function withApiServer<Answer>(
  objects: readonly KubernetesObject[],
  ask: (address: string) => Promise<Answer>,
): Promise<Answer> {
  const server = createServer(({ url = '' }, answer) => {
    const found = answerFor(url.replace(/\?.*/, ''), objects);
    const missing = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404 };
    answer.writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/json' });
    answer.end(JSON.stringify(found ?? missing));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return ask(`http://127.0.0.1:${port}`).finally(() => server.close());
}

function answerFor(path: string, objects: readonly KubernetesObject[]): object | undefined {
  if (path === '/version') return { major: '1', minor: '34', gitVersion: 'v1.34.0' };
  if (path === '/api') return { kind: 'APIVersions', versions: ['v1'] };
  if (path === '/apis') {
    const groups = ['apps/v1', 'autoscaling/v2'].map((groupVersion) => {
      const [name, version] = groupVersion.split('/');
      return { name, versions: [{ groupVersion, version }], preferredVersion: { groupVersion, version } };
    });
    return { kind: 'APIGroupList', apiVersion: 'v1', groups };
  }
  const [group = '', namespace, plural = '', name] = path.split(/\/namespaces\/|(?<=\/namespaces\/.*)\//);
  const kinds = resources[group] ?? {};
  const groupVersion = group.replace(/^\/apis?\//, '');
  if (namespace === undefined) {
    const verbs = ['get'];
    const listed = Object.entries(kinds).map(([of, kind]) => ({ name: of, kind, namespaced: true, verbs }));
    return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources: listed };
  }
  const kind = kinds[plural];
  const there = objects.filter((one) => one.kind === kind && one.metadata.namespace === namespace);
  if (name !== undefined) return there.find(({ metadata }) => metadata.name === name);
  return { kind: `${kind}List`, apiVersion: groupVersion, metadata: {}, items: there };
}
