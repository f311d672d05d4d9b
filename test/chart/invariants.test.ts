// What holds for every object of every set of values.
import { expect, test } from 'vitest';
import { mistakesIn } from './kubernetes-schemas.ts';
import { containersOf, nameOf, ofKind, podsOf } from './objects.ts';
import { securityBreaches } from './pod-security.ts';
import { helm, type KubernetesObject, objectsOf, template } from './render.ts';
import { filesOf, objectsOfSet, valueSets } from './value-sets.ts';

const withHelm = test.skipIf(helm === '');
const everySet = withHelm.each(valueSets);
const recommended = ['name', 'instance', 'version', 'component', 'part-of', 'managed-by'];

everySet('%s: the API server would know every field', async (set) => {
  const objects = await objectsOfSet(set);
  expect(objects.length).toBeGreaterThan(6);
  expect(objects.flatMap(mistakesIn)).toEqual([]);
});

everySet('%s: pods keep to Pod Security "restricted"', async (set) => {
  const pods = podsOf(await objectsOfSet(set));
  const breaches = pods.flatMap((pod) => securityBreaches(pod.spec).map((line) => `${pod.owner}: ${line}`));
  expect(breaches).toEqual([]);
});

everySet('%s: containers say what they need', async (set) => {
  for (const pod of podsOf(await objectsOfSet(set))) {
    for (const { name, resources, image } of containersOf(pod)) {
      const where = `${pod.owner} ${name}`;
      expect(Object.keys(resources?.requests ?? {}).sort(), where).toEqual(['cpu', 'memory']);
      expect(resources.limits?.memory, where).toBeDefined();
      expect(image, where).toMatch(/:(?!latest)[\w.-]+(@sha256:[0-9a-f]{64})?$/);
    }
  }
});

everySet('%s: what serves is probed, and only /livez restarts it', async (set) => {
  for (const { metadata, spec } of ofKind(await objectsOfSet(set), 'Deployment')) {
    const [container] = spec.template.spec.containers;
    const paths = ['startup', 'liveness', 'readiness'].map((kind) => container[`${kind}Probe`].httpGet.path);
    expect(paths, metadata.name).toEqual(['/livez', '/livez', '/readyz']);
    const health = container.ports.find(({ name }: KubernetesObject) => name === 'health');
    expect(health, metadata.name).toBeDefined();
    expect(spec.template.spec.terminationGracePeriodSeconds, metadata.name).toBeGreaterThan(
      container.lifecycle?.preStop?.sleep?.seconds ?? 0,
    );
  }
});

everySet('%s: every object has the recommended labels, and its namespace', async (set) => {
  for (const { kind, metadata } of await objectsOfSet(set)) {
    const where = `${kind}/${metadata.name}`;
    const labels = recommended.map((name) => metadata.labels?.[`app.kubernetes.io/${name}`]);
    expect(labels.includes(undefined), `${where} ${labels}`).toBe(false);
    expect(metadata.labels['helm.sh/chart'], where).toMatch(/^course-exchange-/);
    expect(metadata.namespace, where).toBe('exchange');
  }
});

everySet('%s: no two objects have one name', async (set) => {
  const names = (await objectsOfSet(set)).map(nameOf);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});

everySet('%s: from outside, only the public port is reached', async (set) => {
  const objects = await objectsOfSet(set);
  const backends = [
    ...ofKind(objects, 'Ingress').flatMap(({ spec }) => [
      ...(spec.defaultBackend ? [spec.defaultBackend.service] : []),
      ...spec.rules.flatMap(({ http }: KubernetesObject) =>
        http.paths.map(({ backend }: KubernetesObject) => backend.service),
      ),
    ]),
    ...ofKind(objects, 'HTTPRoute').flatMap(({ spec }) =>
      spec.rules.flatMap(({ backendRefs }: KubernetesObject) => backendRefs),
    ),
  ].map(({ name, port }) => `${name} ${port.name ?? port.number ?? port}`);
  const allowed = /-(gateway (http|8080)|demo-partner (http|9000))$/;
  expect(backends.filter((backend) => !allowed.test(backend))).toEqual([]);
  for (const { metadata, spec } of ofKind(objects, 'Service'))
    expect(spec.type ?? 'ClusterIP', metadata.name).toBe('ClusterIP');
});

everySet('%s: the same values make the same bytes', async (set) => {
  const [once, again] = await Promise.all([
    template({ files: filesOf(set) }),
    template({ files: filesOf(set) }),
  ]);
  expect(again.stdout).toBe(once.stdout);
});

everySet('%s: names fit, however long the release is called', async (set) => {
  const release = 'a-release-with-a-name-of-fifty-three-characters-12345';
  for (const { kind, metadata, spec } of await objectsOf({ files: filesOf(set), release })) {
    expect(metadata.name.length, `${kind}/${metadata.name}`).toBeLessThanOrEqual(
      kind === 'CronJob' ? 52 : 63,
    );
    expect(metadata.name).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);
    const labels: string[] = Object.values({ ...metadata.labels, ...spec?.template?.metadata?.labels });
    expect(labels.filter((value) => !/^([A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?)?$/.test(value))).toEqual([]);
  }
});
