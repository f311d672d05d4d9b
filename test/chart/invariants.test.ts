// What holds for every object of every set of values. Without a Helm the suite is left out, and the run's last lines say so.
import { expect, test } from 'vitest';
import { withoutHelm } from '../support/helm-program.ts';
import { schemaErrors } from './kubernetes-schemas.ts';
import { containersOf, nameOf, ofKind, podsOf, selects } from './objects.ts';
import { callHelm, chart, helm, type KubernetesObject, objectsOf, template, valueFlags } from './render.ts';
import { environments, filesOf, filesOfEnvironment, objectsOfSet, valueSets } from './value-sets.ts';

const withHelm = test.skipIf(helm === '');
const everySet = withHelm.each(valueSets);
if (helm === '') test.skip(`not run: the chart. ${withoutHelm}`);

const recommended = ['name', 'instance', 'version', 'component', 'part-of', 'managed-by'];

/** The objects of the two environments, by kind and component; a name without one is of the whole release. */
const serving = ['design-catalog', 'gateway', 'identity'];
const objectsByKind: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  production: {
    Deployment: serving,
    HorizontalPodAutoscaler: serving,
    Ingress: ['gateway'],
    Job: ['migrations'],
    NetworkPolicy: ['default-deny', ...serving, 'migrations'],
    PodDisruptionBudget: serving,
    Service: [...serving, 'identity-operator'],
    ServiceAccount: serving,
  },
  test: {
    Deployment: ['demo-partner', ...serving],
    Ingress: ['demo-partner', 'gateway'],
    Job: ['contract-tests', 'migrations'],
    NetworkPolicy: ['contract-tests', 'default-deny', 'demo-partner', ...serving, 'migrations'],
    Service: ['demo-partner', ...serving],
    ServiceAccount: ['demo-partner', ...serving],
  },
};

withHelm.each(environments)('%s has these objects', async (environment) => {
  const found: Record<string, string[]> = {};
  for (const { kind, metadata } of await objectsOf({ files: filesOfEnvironment(environment) })) {
    found[kind] ??= [];
    found[kind].push(metadata.name.replace('environment-course-exchange-', ''));
  }
  for (const names of Object.values(found)) names.sort();
  expect(found).toEqual(objectsByKind[environment]);
});

everySet('helm lint --strict finds nothing with %s', async (set) => {
  const { code, stdout } = await callHelm([
    'lint',
    chart,
    '--strict',
    ...valueFlags(filesOf(set), undefined),
  ]);
  expect(`${code} ${stdout}`).toMatch(/^0 [\s\S]*1 chart\(s\) linted, 0 chart\(s\) failed/);
});

everySet('%s: the API server would know every field', async (set) => {
  const objects = await objectsOfSet(set);
  expect(objects.length).toBeGreaterThan(6);
  expect(objects.flatMap(schemaErrors)).toEqual([]);
});

/** Exactly these fields: one more could loosen what Pod Security "restricted" asks. */
const account = expect.toSatisfy((id) => Number.isInteger(id) && id > 0);
const podContext = {
  runAsNonRoot: true,
  runAsUser: account,
  runAsGroup: account,
  fsGroup: account,
  fsGroupChangePolicy: 'OnRootMismatch',
  seccompProfile: { type: 'RuntimeDefault' },
};
const containerContext = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

everySet('%s: pods keep to Pod Security "restricted" and mount no account token', async (set) => {
  for (const pod of podsOf(await objectsOfSet(set))) {
    const { securityContext, hostNetwork, hostPID, hostIPC, automountServiceAccountToken } = pod.spec;
    expect(securityContext, pod.owner).toEqual(podContext);
    expect([hostNetwork, hostPID, hostIPC], pod.owner).toEqual([undefined, undefined, undefined]);
    expect(automountServiceAccountToken, pod.owner).toBe(false);
    const volumes: KubernetesObject[] = pod.spec.volumes ?? [];
    const kinds = volumes.flatMap(({ name, ...kind }) => Object.keys(kind));
    expect(
      kinds.filter((kind) => !['configMap', 'emptyDir', 'projected', 'secret'].includes(kind)),
      pod.owner,
    ).toEqual([]);
    for (const container of containersOf(pod)) {
      const where = `${pod.owner} ${container.name}`;
      const { privileged = false, ...context } = container.securityContext;
      expect(privileged, where).toBe(false);
      expect(context, where).toEqual(containerContext);
      // No port of the host, and no probe of another one.
      expect(JSON.stringify(container), where).not.toMatch(/"host(Port|IP)?":/);
    }
  }
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
      spec.rules.flatMap(({ backendRefs = [] }: KubernetesObject) => backendRefs),
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

everySet('%s: selectors select the pods of their own component, and no others', async (set) => {
  const objects = await objectsOfSet(set);
  const pods = podsOf(objects);
  const selected = (selector: Record<string, string>) =>
    pods.filter(({ labels }) => selects({ matchLabels: selector }, labels)).map(({ owner }) => owner);
  for (const { metadata, spec } of ofKind(objects, 'Deployment'))
    expect(selected(spec.selector.matchLabels)).toEqual([`Deployment/${metadata.name}`]);
  for (const { metadata, spec } of ofKind(objects, 'PodDisruptionBudget'))
    expect(selected(spec.selector.matchLabels)).toEqual([`Deployment/${metadata.name}`]);
  for (const { metadata, spec } of ofKind(objects, 'Service')) {
    if (metadata.labels['app.kubernetes.io/component'] === 'metrics') continue;
    const owner = `Deployment/${metadata.name.replace(/-(operator|feed)$/, '')}`;
    expect(selected(spec.selector), metadata.name).toEqual([owner]);
  }
});

everySet('%s: gRPC clients see every pod that is ready, and a budget protects no broken pod', async (set) => {
  const objects = await objectsOfSet(set);
  for (const { metadata, spec } of ofKind(objects, 'Service')) {
    const headless = spec.ports.some(({ name }: KubernetesObject) => ['grpc', 'health'].includes(name));
    expect(spec.clusterIP, metadata.name).toBe(headless ? 'None' : undefined);
    expect(spec.publishNotReadyAddresses ?? false, metadata.name).toBe(metadata.name.endsWith('-metrics'));
  }
  for (const { metadata, spec } of ofKind(objects, 'PodDisruptionBudget'))
    expect(spec.unhealthyPodEvictionPolicy, metadata.name).toBe('AlwaysAllow');
});

everySet('%s: a Service leads to a port that its pods have', async (set) => {
  const objects = await objectsOfSet(set);
  for (const { metadata, spec } of ofKind(objects, 'Service')) {
    const serving = podsOf(objects).filter(
      ({ owner, labels }) =>
        owner.startsWith('Deployment/') && selects({ matchLabels: spec.selector }, labels),
    );
    for (const { targetPort } of spec.ports) {
      const ports = serving.map((pod) =>
        pod.spec.containers[0].ports.map((port: KubernetesObject) => port.name),
      );
      expect(
        ports.every((names) => names.includes(targetPort)),
        `${metadata.name} ${targetPort}`,
      ).toBe(true);
    }
  }
});

everySet(
  '%s: an autoscaler rules the replicas alone, and a budget leaves pods to be drained',
  async (set) => {
    const objects = await objectsOfSet(set);
    const deployments = new Map(
      ofKind(objects, 'Deployment').map((object) => [object.metadata.name, object]),
    );
    const scaled = ofKind(objects, 'HorizontalPodAutoscaler');
    for (const { spec } of scaled) {
      expect(deployments.get(spec.scaleTargetRef.name)?.spec).not.toHaveProperty('replicas');
      expect(spec.minReplicas).toBeLessThanOrEqual(spec.maxReplicas);
    }
    const names = scaled.map(({ spec }) => spec.scaleTargetRef.name);
    for (const [name, { spec }] of deployments) {
      if (!names.includes(name)) expect(spec.replicas, name).toBeGreaterThan(0);
      if (spec.strategy.type === 'RollingUpdate')
        expect(spec.strategy.rollingUpdate, name).toMatchObject({ maxUnavailable: 0 });
    }
  },
);
