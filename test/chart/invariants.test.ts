// What holds for every object of every set of values.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { containersOf, nameOf, ofKind, podsOf, selects } from './objects.ts';
import {
  chart,
  filesOf,
  type KubernetesObject,
  renderAll,
  renderSets,
  template,
  valueSets,
} from './render.ts';

const everySet = test.each(await renderSets());

everySet('$set: Helm alone renders the same, and no key or object twice', async ({ set, objects }) => {
  const { out } = await template(chart, filesOf(set));
  const alone = parseAllDocuments(out).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as KubernetesObject | null;
  });
  const inOrder = (list: readonly KubernetesObject[]) =>
    list.toSorted((one, other) => nameOf(one).localeCompare(nameOf(other)));
  expect(inOrder(objects)).toEqual(inOrder(alone.filter((one) => one !== null)));
  expect(new Set(objects.map(nameOf)).size).toBe(objects.length);
});

const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
ajv.addSchema(JSON.parse(readFileSync(join(import.meta.dirname, 'schemas/schemas.json'), 'utf8')), 'schemas');

/** A line for each mistake; one line for a kind without a schema. */
function schemaErrors(object: KubernetesObject): readonly string[] {
  const kind = `${object.apiVersion} ${object.kind}`;
  const validate = ajv.getSchema(`schemas#/kinds/${encodeURIComponent(kind.replace('/', '~1'))}`);
  if (!validate) return [`${kind} has no schema: add it to test/chart/schemas/collect.ts`];
  validate(object);
  return (validate.errors ?? []).map(({ instancePath, message, params }) => {
    const unknown = params.additionalProperty === undefined ? '' : ` (${params.additionalProperty})`;
    return `${nameOf(object)}${instancePath} ${message}${unknown}`;
  });
}

everySet('$set: the API server would know every field', ({ objects }) => {
  expect(objects.length).toBeGreaterThan(6);
  expect(objects.flatMap(schemaErrors)).toEqual([]);
});

/** Exactly these fields: one more could loosen what Pod Security "restricted" asks. */
const account = expect.toSatisfy((id) => Number.isInteger(id) && id > 0);
const podContext = {
  ...{ runAsNonRoot: true, runAsUser: account, runAsGroup: account, fsGroup: account },
  ...{ fsGroupChangePolicy: 'OnRootMismatch', seccompProfile: { type: 'RuntimeDefault' } },
};
const containerContext = {
  ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
};

everySet('$set: pods keep to Pod Security "restricted" and mount no account token', ({ objects }) => {
  for (const { owner, spec } of podsOf(objects)) {
    expect(spec.securityContext, owner).toEqual(podContext);
    expect([spec.hostNetwork, spec.hostPID, spec.hostIPC], owner).toEqual([undefined, undefined, undefined]);
    expect(spec.automountServiceAccountToken, owner).toBe(false);
    const kinds = (spec.volumes ?? []).flatMap(({ name, ...kind }: KubernetesObject) => Object.keys(kind));
    const claimed = owner.endsWith('-audit-export') ? ['persistentVolumeClaim'] : [];
    for (const kind of kinds)
      expect(['configMap', 'emptyDir', 'projected', 'secret', ...claimed], owner).toContain(kind);
  }
  for (const { where, pod: _, ...container } of containersOf(podsOf(objects))) {
    const { privileged = false, ...context } = container.securityContext;
    expect(privileged, where).toBe(false);
    expect(context, where).toEqual(containerContext);
    // No port of the host, and no probe of another one.
    expect(JSON.stringify(container), where).not.toMatch(/"host(Port|IP)?":/);
  }
});

everySet('$set: a pod runs as its own account where there is one', ({ objects }) => {
  for (const { metadata, automountServiceAccountToken } of ofKind(objects, 'ServiceAccount')) {
    expect(automountServiceAccountToken).toBe(false);
    const using = podsOf(objects).filter(({ spec }) => spec.serviceAccountName === metadata.name);
    expect(using.map(({ owner }) => owner)).toEqual([`Deployment/${metadata.name}`]);
  }
});

everySet('$set: containers say what they need', ({ objects }) => {
  for (const { where, resources, image } of containersOf(podsOf(objects))) {
    expect(Object.keys(resources?.requests ?? {}).sort(), where).toEqual(['cpu', 'memory']);
    expect(resources.limits?.memory, where).toBeDefined();
    expect(image, where).toMatch(/^[\w.:/-]+:(?!latest)[\w.-]+(@sha256:[0-9a-f]{64})?$/);
  }
});

everySet('$set: a failed Job goes within a day, and the alert about it', ({ objects }) => {
  const rotations = ofKind(objects, 'CronJob').map(({ spec }) => spec.jobTemplate);
  for (const { spec } of [...ofKind(objects, 'Job'), ...rotations])
    expect(spec.ttlSecondsAfterFinished).toBeLessThanOrEqual(86_400);
});

everySet('$set: what serves is probed, and only /livez restarts it', ({ objects }) => {
  for (const { metadata, spec } of ofKind(objects, 'Deployment')) {
    const { containers, terminationGracePeriodSeconds } = spec.template.spec;
    const [{ startupProbe, livenessProbe, readinessProbe, lifecycle }] = containers;
    const asked = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet);
    const [alive, ready] = ['/livez', '/readyz'].map((path) => ({ port: 'health', path }));
    expect(asked, metadata.name).toEqual([alive, alive, ready]);
    // A pod that stalls for three seconds stays, one that hangs gets no more requests after five.
    expect(readinessProbe).toMatchObject({ periodSeconds: 1, timeoutSeconds: 1, failureThreshold: 4 });
    const pause = lifecycle?.preStop?.sleep?.seconds ?? 0;
    expect(terminationGracePeriodSeconds, metadata.name).toBeGreaterThan(pause);
  }
});

const recommended = ['name', 'instance', 'version', 'component', 'part-of', 'managed-by'];

everySet('$set: every object has the recommended labels, and its namespace', ({ objects }) => {
  for (const { kind, metadata } of objects) {
    const where = `${kind}/${metadata.name}`;
    const labels = recommended.map((name) => metadata.labels?.[`app.kubernetes.io/${name}`]);
    // The operator's own object has those that the operator gives it.
    if (metadata.name === 'environment-own') continue;
    expect(labels.includes(undefined), `${where} ${labels}`).toBe(false);
    expect(metadata.labels['helm.sh/chart'], where).toMatch(/^course-exchange-/);
    expect(metadata.namespace, where).toBe('exchange');
  }
});

test('names fit, however long the release is called', async () => {
  const release = 'a-release-with-a-name-of-fifty-three-characters-12345';
  const rendered = await renderAll(valueSets.map((on) => ({ on, release })));
  for (const { kind, metadata, spec } of rendered.flatMap(({ objects }) => objects)) {
    const longest = kind === 'CronJob' ? 52 : 63;
    expect(metadata.name.length, `${kind}/${metadata.name}`).toBeLessThanOrEqual(longest);
    expect(metadata.name).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);
    const labels: string[] = Object.values({ ...metadata.labels, ...spec?.template?.metadata?.labels });
    expect(labels.filter((value) => !/^([A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?)?$/.test(value))).toEqual([]);
  }
});

everySet('$set: selectors select the pods of their own component, and no others', ({ set, objects }) => {
  const selected = (matchLabels: Readonly<Record<string, string>>) =>
    podsOf(objects).filter(({ labels }) => selects({ matchLabels }, labels));
  const owners = (selector: Readonly<Record<string, string>>) => selected(selector).map(({ owner }) => owner);
  for (const { metadata, spec } of objects.filter(({ kind }) => /^(Deployment|PodDis.*)$/.test(kind)))
    expect(owners(spec.selector.matchLabels)).toEqual([`Deployment/${metadata.name}`]);
  for (const { metadata, spec } of ofKind(objects, 'Service')) {
    const [{ targetPort }] = spec.ports;
    const serving = selected(spec.selector).filter(({ owner }) => owner.startsWith('Deployment/'));
    for (const { containers } of serving.map((pod) => pod.spec))
      expect(containers[0].ports.map(({ name }: KubernetesObject) => name)).toContain(targetPort);
    // The metrics Service has every pod: the monitors choose among them.
    const ofAll = metadata.name.endsWith('-metrics');
    const owner = `Deployment/${metadata.name.replace(/-(operator|feed|login)$/, '')}`;
    if (ofAll) expect(serving).toHaveLength(ofKind(objects, 'Deployment').length);
    else expect(owners(spec.selector)).toEqual([owner]);
    // gRPC clients see every pod that is ready, and none is reached from outside.
    const address = ['grpc', 'health'].includes(spec.ports[0].name) ? 'None' : undefined;
    const type = set === 'test-open-values' && spec.ports[0].name === 'http' ? 'NodePort' : 'ClusterIP';
    expect([spec.type, spec.clusterIP], metadata.name).toEqual([type, address]);
    // A server drops the default, and another apply would set it again.
    expect(spec.publishNotReadyAddresses, metadata.name).toBe(ofAll || undefined);
  }
});

everySet('$set: an autoscaler rules the replicas alone, and a budget lets pods be drained', ({ objects }) => {
  for (const { spec } of ofKind(objects, 'PodDisruptionBudget'))
    expect(spec.unhealthyPodEvictionPolicy).toBe('AlwaysAllow');
  const scaled = ofKind(objects, 'HorizontalPodAutoscaler').map(({ spec }) => spec.scaleTargetRef.name);
  for (const { metadata, spec } of ofKind(objects, 'Deployment')) {
    if (scaled.includes(metadata.name)) expect(spec).not.toHaveProperty('replicas');
    else expect(spec.replicas, metadata.name).toBeGreaterThan(0);
    if (spec.strategy.type === 'RollingUpdate')
      expect(spec.strategy.rollingUpdate, metadata.name).toMatchObject({ maxUnavailable: 0 });
  }
});
