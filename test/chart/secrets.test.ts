// No secret stands in what the chart renders: Secrets are named, mounted as files and never made.
import { expect, test } from 'vitest';
import { containersOf, ofKind, podOf, podsOf } from './objects.ts';
import { type KubernetesObject, renderSets } from './render.ts';

const sets = await renderSets();
const everySet = test.each(sets);
/** Settings whose value is a secret; `NAME_FILE` says where it lies. */
const secretSetting = /(PASSWORD|SECRET|TOKEN|_KEY|_KEY_PREVIOUS|CREDENTIALS|POSTGRES_USER)$/;
const accountInUrl = /[a-z]+:\/\/[^/\s@]+@/;
const pem = /-----BEGIN [A-Z ]*PRIVATE KEY-----/;
const isPath = (value: unknown) => typeof value === 'string' && value.startsWith('/run/course-exchange/');

everySet('$set: no variable holds a secret, nor takes one from a Secret', ({ objects }) => {
  for (const { where, env, envFrom, args, command } of containersOf(podsOf(objects))) {
    expect([envFrom, command], where).toEqual([undefined, undefined]);
    const bare = env.filter(
      ({ name, value, valueFrom }: KubernetesObject) =>
        (secretSetting.test(name) && !isPath(value)) || valueFrom?.secretKeyRef,
    );
    expect(bare, where).toEqual([]);
    const texts: string[] = [...env.map(({ value }: KubernetesObject) => String(value)), ...args];
    expect(
      texts.filter((text) => accountInUrl.test(text) || pem.test(text)),
      where,
    ).toEqual([]);
  }
  expect(ofKind(objects, 'Secret')).toEqual([]);
  const configured = ofKind(objects, 'ConfigMap').flatMap(({ data }) => Object.values<string>(data ?? {}));
  expect(configured.filter((text) => accountInUrl.test(text) || pem.test(text))).toEqual([]);
});

everySet('$set: every file that a variable names is mounted', ({ objects }) => {
  for (const { where, pod, env, volumeMounts } of containersOf(podsOf(objects))) {
    const paths: string[] = volumeMounts.flatMap(({ name, mountPath }: KubernetesObject) => {
      const volume = pod.spec.volumes.find((one: KubernetesObject) => one.name === name);
      return [mountPath, ...filesOf(volume).map((file) => `${mountPath}/${file}`)];
    });
    for (const { name, value } of env) if (isPath(value)) expect(paths, `${where} ${name}`).toContain(value);
    expect(volumeMounts.filter((mount: KubernetesObject) => mount.subPath)).toEqual([]);
  }
});

/** A kubernetes.io/tls Secret that is mounted whole has three. */
function filesOf(volume: KubernetesObject): readonly string[] {
  if (volume.secret && !volume.secret.items) return ['tls.crt', 'tls.key', 'ca.crt'];
  const sources: KubernetesObject[] = volume.projected?.sources ?? [volume];
  return sources.flatMap(({ secret }) => (secret?.items ?? []).map(({ path }: KubernetesObject) => path));
}

/** By component `FILE key Secret`, where everything has a separate Secret and key. */
const filled = {
  identity: `KEY_ENCRYPTION_KEY key-encryption-key keys, KEY_ENCRYPTION_KEY_PREVIOUS kek-before keys,
    REDIS_PASSWORD pass redis, REDIS_USERNAME user redis, REDIS_SENTINEL_PASSWORD pass sentinel, REDIS_SENTINEL_USERNAME user sentinel,
    REDIS_TLS_CA authority.crt redis-ca, USER_HASH_KEY user-hash-key keys, OPERATOR_POSTGRES_USER user pg-identity-operator,
    OPERATOR_POSTGRES_PASSWORD pass pg-identity-operator, POSTGRES_USER user pg-identity-rw, POSTGRES_PASSWORD pass pg-identity-rw,
    OPERATOR_TLS_CA ca.crt operator-tls, OPERATOR_TLS_CERT tls.crt operator-tls, OPERATOR_TLS_KEY tls.key operator-tls`,
  'design-catalog': `USER_HASH_KEY user-hash-key keys, FEED_POSTGRES_USER user pg-catalog-feed,
    FEED_POSTGRES_PASSWORD pass pg-catalog-feed, POSTGRES_USER user pg-catalog-ro, POSTGRES_PASSWORD pass pg-catalog-ro,
    FEED_TLS_CA ca.crt feed-tls, FEED_TLS_CERT tls.crt feed-tls, FEED_TLS_KEY tls.key feed-tls`,
  'demo-partner': 'CLIENT_SECRET client-secret planner, TOKEN_ENCRYPTION_KEY token-encryption-key planner',
  'contract-tests': 'stack.json stack.json stack',
};

test.each(Object.entries(filled))('the files of %s come each from its Secret and key', (component, files) => {
  const { objects = [] } = sets.find(({ set }) => set === 'test-everything-values') ?? {};
  const { volumes, containers } = podOf(objects, component)?.spec ?? {};
  const sources: KubernetesObject[] = volumes.flatMap(
    ({ projected }: KubernetesObject) => projected?.sources ?? [],
  );
  const found = sources.flatMap(({ secret: { name, items } }) =>
    items.map(({ path, key }: KubernetesObject) => `${path} ${key} ${name}`),
  );
  expect(found).toEqual(files.split(/,\s+/));
  const named = containers[0].env.map(({ value = '' }) => value.split('/').at(-1));
  expect(named).toEqual(expect.arrayContaining(found.map((file) => file.split(' ')[0])));
});

everySet(
  '$set: a certificate is for the name that clients call, and mounted where it is served',
  ({ objects }) => {
    for (const { metadata, spec } of ofKind(objects, 'Certificate')) {
      const component = metadata.labels['app.kubernetes.io/component'];
      const tls = podOf(objects, component)?.spec.volumes.find(
        ({ name }: KubernetesObject) => name === 'tls',
      );
      expect(tls?.secret.secretName, component).toBe(spec.secretName);
      expect(spec.usages, component).toEqual(['digital signature', 'server auth', 'client auth']);
      const called = containersOf(podsOf(objects))
        .flatMap(({ env }) => env.map(({ value = '' }) => value))
        .filter((value) => value.startsWith(`dns:///${metadata.name}.`));
      expect(called.length > 0, component).toBe(component !== 'gateway');
      for (const target of called) expect(spec.dnsNames).toContain(target.replace(/^dns:\/\/\/|:\d+$/g, ''));
    }
  },
);

const callersOf: Readonly<Record<string, readonly (readonly [setting: string, caller: string])[]>> = {
  identity: [
    ['GATEWAY_TLS_NAMES', 'gateway'],
    ['CATALOG_TLS_NAMES', 'design-catalog'],
  ],
  'design-catalog': [['GATEWAY_TLS_NAMES', 'gateway']],
};

everySet('$set: a caller needs the whole name of its certificate', ({ set, objects }) => {
  for (const { name, where, env } of containersOf(podsOf(objects))) {
    const settings = new Map<string, string>(env.map((one: KubernetesObject) => [one.name, one.value]));
    const expected = settings.has('RPC_TLS_DIRECTORY') ? (callersOf[name] ?? []) : [];
    expect([...settings].filter(([setting]) => setting.endsWith('_TLS_NAMES'))).toHaveLength(expected.length);
    for (const [setting, caller] of expected) {
      const service = `${podOf(objects, caller)?.owner.replace('Deployment/', '')}.exchange.svc`;
      const whole = `${service}.cluster.${set === 'test-everything-values' ? 'example' : 'local'}`;
      expect(settings.get(setting), where).toBe(`${whole},${service}`);
      for (const { metadata, spec } of ofKind(objects, 'Certificate'))
        expect(spec.dnsNames.includes(whole)).toBe(metadata.labels['app.kubernetes.io/component'] === caller);
    }
  }
});
