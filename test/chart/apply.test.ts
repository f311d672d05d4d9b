// What a tool that runs no hooks may apply again and again: `helm template | kubectl apply`.
import { expect, test } from 'vitest';
import { withApiServer } from './api-server.ts';
import { ofKind } from './objects.ts';
import { type KubernetesObject, renderAll, type Values } from './render.ts';

const on = 'test-everything-values';
const changes: readonly Values[] = [
  {},
  { image: { tag: '0.2.0' } },
  { image: { digests: { migrations: `sha256:${'0'.repeat(64)}` } } },
  { postgres: { host: 'postgres-restored' } },
  { migrations: { activeDeadlineSeconds: 120 } },
  { defaults: { podAnnotations: { version: 'second' } } },
];
const jobsOf = (objects: readonly KubernetesObject[]) =>
  ofKind(objects, 'Job').map(
    ({ metadata, spec }) => [metadata.name as string, JSON.stringify(spec)] as const,
  );

test('a Job, which cannot be changed, has another name for each content, where nobody asks the cluster', async () => {
  const rendered = await renderAll([...changes, {}].map((values) => ({ on, values })));
  const jobs = rendered.flatMap(({ objects }) => jobsOf(objects));
  expect(jobs).toHaveLength(2 * rendered.length);
  for (const [name] of jobs)
    expect(name).toMatch(/^environment-course-exchange-(migrations|contract-tests)-[0-9a-f]{8}$/);
  const contents = new Set(jobs.map(([, spec]) => spec));
  expect(contents.size).toBeGreaterThan(changes.length);
  expect(new Set(jobs.map(([name]) => name)).size).toBe(contents.size);
  expect(new Set(jobs.map((job) => job.join())).size).toBe(contents.size);
});

test('where hooks run, a failed Job makes room for the next: Helm, which asks the cluster, keeps one name', async () => {
  const there = [{ kind: 'ServiceAccount', metadata: { name: 'default', namespace: 'exchange' } }];
  const cases = changes.map((values) => ({ on, values }));
  const rendered = await withApiServer(there, (address) => renderAll(cases, address));
  for (const { objects } of rendered) {
    const names = ofKind(objects, 'Job')
      .map(({ metadata }) => metadata.name)
      .sort();
    expect(names).toEqual(
      ['contract-tests', 'migrations'].map((name) => `environment-course-exchange-${name}`),
    );
    for (const { metadata } of ofKind(objects, 'Job'))
      expect(metadata.annotations['helm.sh/hook-delete-policy']).toContain('before-hook-creation');
  }
});
