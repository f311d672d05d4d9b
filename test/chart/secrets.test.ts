// No secret stands in what the chart renders: Secrets are named, mounted as files and never made.
import { expect, test } from 'vitest';
import { containersOf, ofKind, podsOf } from './objects.ts';
import { helm, type KubernetesObject, objectsOf } from './render.ts';
import { filesOfEnvironment, objectsOfSet, valueSets } from './value-sets.ts';

const everySet = test.skipIf(helm === '').each(valueSets);
/** Settings whose value is a secret; `NAME_FILE` says where it lies. */
const secretSetting = /(PASSWORD|SECRET|TOKEN|_KEY|_KEY_PREVIOUS|CREDENTIALS|POSTGRES_USER)$/;
const accountInUrl = /[a-z]+:\/\/[^/\s@]+@/;
const pem = /-----BEGIN [A-Z ]*PRIVATE KEY-----/;

everySet('%s: no variable holds a secret, nor takes one from a Secret', async (set) => {
  for (const pod of podsOf(await objectsOfSet(set))) {
    for (const { name, env = [], envFrom, args = [], command } of containersOf(pod)) {
      const where = `${pod.owner} ${name}`;
      const variables: KubernetesObject[] = env;
      expect(envFrom, where).toBeUndefined();
      expect(command, where).toBeUndefined();
      expect(
        variables.filter((one) => secretSetting.test(one.name) && !isPath(one.value)),
        where,
      ).toEqual([]);
      expect(
        variables.filter((one) => one.valueFrom?.secretKeyRef),
        where,
      ).toEqual([]);
      const texts = [...variables.map((one) => String(one.value)), ...args];
      expect(
        texts.filter((text) => accountInUrl.test(text) || pem.test(text)),
        where,
      ).toEqual([]);
    }
  }
});

everySet('%s: every file that a variable names is mounted', async (set) => {
  for (const pod of podsOf(await objectsOfSet(set))) {
    const volumes = new Map<string, KubernetesObject>(
      (pod.spec.volumes ?? []).map((volume: KubernetesObject) => [volume.name, volume]),
    );
    for (const { name, env = [], volumeMounts = [] } of containersOf(pod)) {
      const paths: string[] = volumeMounts.flatMap((mount: KubernetesObject) => [
        mount.mountPath,
        ...filesOf(volumes.get(mount.name)).map((file) => `${mount.mountPath}/${file}`),
      ]);
      const named = env.filter((one: KubernetesObject) => isPath(one.value));
      for (const one of named) expect(paths, `${pod.owner} ${name} ${one.name}`).toContain(one.value);
      expect(volumeMounts.filter((mount: KubernetesObject) => mount.subPath)).toEqual([]);
    }
  }
});

test.skipIf(helm === '')(
  'a private port that is opened has certificate, key and authority, each from its Secret',
  async () => {
    const values = {
      identity: { operator: { enabled: true, tlsSecret: 'operator-tls' } },
      designCatalog: { feed: { enabled: true, tlsSecret: 'feed-tls' } },
    };
    const pods = podsOf(await objectsOf({ files: filesOfEnvironment('production'), values }));
    for (const [component, port, secretName] of [
      ['identity', 'OPERATOR', 'operator-tls'],
      ['design-catalog', 'FEED', 'feed-tls'],
    ] as const) {
      const pod = pods.find((one) => one.owner.startsWith('Deployment/') && one.component === component);
      const given = pod?.spec.volumes
        .flatMap((volume: KubernetesObject) => volume.projected?.sources ?? [])
        .filter(({ secret }: KubernetesObject) => secret?.name === secretName)
        .flatMap(({ secret }: KubernetesObject) => secret.items);
      expect(given).toEqual([
        { key: 'tls.crt', path: `${port}_TLS_CERT` },
        { key: 'tls.key', path: `${port}_TLS_KEY` },
        { key: 'ca.crt', path: `${port}_TLS_CA` },
      ]);
      const named = pod?.spec.containers[0].env.map(({ name }: KubernetesObject) => name);
      for (const file of ['CERT', 'KEY', 'CA']) expect(named).toContain(`${port}_TLS_${file}_FILE`);
    }
  },
);

everySet('%s: the chart makes no Secret, and no ConfigMap holds one', async (set) => {
  const objects = await objectsOfSet(set);
  expect(ofKind(objects, 'Secret')).toEqual([]);
  const configured = ofKind(objects, 'ConfigMap').flatMap(({ data }) => Object.values<string>(data ?? {}));
  expect(configured.filter((text) => accountInUrl.test(text) || pem.test(text))).toEqual([]);
});

function isPath(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith('/run/course-exchange/');
}

/** A kubernetes.io/tls Secret that is mounted whole has three. */
function filesOf(volume: KubernetesObject | undefined): readonly string[] {
  const items = (source: KubernetesObject | undefined): string[] =>
    (source?.items ?? []).map(({ path }: { path: string }) => path);
  const projected: KubernetesObject[] = volume?.projected?.sources ?? [];
  const whole = volume?.secret && !volume.secret.items ? ['tls.crt', 'tls.key', 'ca.crt'] : [];
  return [...whole, ...items(volume?.secret), ...projected.flatMap((source) => items(source.secret))];
}
