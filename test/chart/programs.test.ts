// What each container runs, with which settings, and where it finds the others.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { documentationOf } from '@course-exchange/runtime/process/settings';
import { expect, test } from 'vitest';
import { programs } from '../generate/settings.ts';
import { containersOf, nameOf, ofKind, type Pod, podsOf, readers } from './objects.ts';
import { chart, helm, type KubernetesObject } from './render.ts';
import { objectsOfSet, valueSets } from './value-sets.ts';

const withHelm = test.skipIf(helm === '');
const everySet = withHelm.each(valueSets);
const demoPartnerPage = readFileSync(join(chart, '../../services/demo-partner/README.md'), 'utf8');
/** What every program may be given, whether its table lists it or not. */
const everywhere = [
  'LOG_LEVEL',
  'MALLOC_ARENA_MAX',
  'NODE_EXTRA_CA_CERTS',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_TRACES_SAMPLER_ARG',
];
const setting = (variable: string) => variable.replace(/_FILE$/, '');

function settingsOf(program: string): { readonly known: readonly string[]; readonly required: string[] } {
  const settings = Object.entries(programs[program] ?? {});
  if (settings.length > 0) {
    const required = settings.filter(([, setting]) => documentationOf(setting).required);
    return { known: settings.map(([name]) => name), required: required.map(([name]) => name) };
  }
  const rows = [...demoPartnerPage.matchAll(/^\| (`[A-Z_]+`(?:, `[A-Z_]+`)*) \|.*$/gm)];
  const lines = rows.flatMap(([line, names = '']) =>
    names
      .split(', ')
      .map((name) => ({ name: setting(name.slice(1, -1)), required: line.includes('| required |') })),
  );
  return {
    known: lines.map(({ name }) => name),
    required: lines.filter(({ required }) => required).map(({ name }) => name),
  };
}

function environmentOf(objects: readonly KubernetesObject[], container: string): Record<string, string> {
  const found = podsOf(objects)
    .flatMap(containersOf)
    .find(({ name }) => name === container);
  const variables: readonly KubernetesObject[] = found?.env ?? [];
  return Object.fromEntries(variables.map(({ name, value }) => [name, value]));
}

function podOf(objects: readonly KubernetesObject[], component: string): Pod | undefined {
  return podsOf(objects).find((pod) => pod.component === component);
}

everySet('%s: programs get the settings that they know, and all that they require', async (set) => {
  const containers = podsOf(await objectsOfSet(set)).flatMap(containersOf);
  const judged = containers.filter(({ name }) => name in readers);
  expect(judged.length).toBeGreaterThan(6);
  for (const { name, env } of judged) {
    const { known, required } = settingsOf(readers[name] ?? '');
    expect(known.length, name).toBeGreaterThan(3);
    const given: string[] = env.map((one: KubernetesObject) => setting(one.name));
    const unknown = given.filter((one) => !known.includes(one) && !everywhere.includes(one));
    expect(unknown, name).toEqual([]);
    expect(
      required.filter((one) => !given.includes(one)),
      name,
    ).toEqual([]);
    expect(given, name).toContain('MALLOC_ARENA_MAX');
  }
});

everySet('%s: a container runs its own program, with flags of Node before it', async (set) => {
  for (const pod of podsOf(await objectsOfSet(set)))
    for (const { name, image, args = [] } of containersOf(pod)) {
      if (name === 'contract-tests') continue;
      const at = args.findIndex((word: string) => word.startsWith('/app/'));
      const program: string = args[at];
      expect(
        args.slice(0, at).every((word: string) => word.startsWith('--')),
        name,
      ).toBe(true);
      if (pod.owner.startsWith('Deployment/'))
        expect(program).toBe(`/app/services/${pod.component}/src/main.js`);
      const source = join(chart, '../..', program.replace('/app/', '').replace(/\.js$/, '.ts'));
      expect(existsSync(source) || ['/app/seed.js', '/app/partnerctl.js'].includes(program), program).toBe(
        true,
      );
      expect(image, name).toMatch(/^[\w.:/-]+:[\w.-]+(@sha256:\w+)?$/);
    }
});

everySet('%s: every address of another component is that of a Service with the port', async (set) => {
  const objects = await objectsOfSet(set);
  const ports = ofKind(objects, 'Service').flatMap(({ metadata, spec }) =>
    spec.ports.map(({ port }: KubernetesObject) => `${metadata.name}.${metadata.namespace}.svc:${port}`),
  );
  const texts: string[] = podsOf(objects)
    .flatMap(containersOf)
    .flatMap(({ env = [], args = [] }) => [...env.map((one: KubernetesObject) => one.value ?? ''), ...args]);
  const addresses = texts.filter((text) => /\.svc\.cluster\.\w+:\d+$/.test(text));
  expect(addresses.length).toBeGreaterThan(2);
  for (const address of addresses)
    expect(ports).toContain(address.replace(/^[a-z]+:\/+/, '').replace(/\.cluster\.\w+(?=:\d+$)/, ''));
});

everySet('%s: all know the same issuer, and each the environment that it is told', async (set) => {
  const variables: KubernetesObject[] = podsOf(await objectsOfSet(set))
    .flatMap(containersOf)
    .flatMap(({ env = [] }) => env);
  const valuesOf = (name: RegExp) => [
    ...new Set(variables.filter((one) => name.test(one.name)).map(({ value }) => value)),
  ];
  expect(valuesOf(/^(CONTRACT_)?ISSUER$/)).toHaveLength(1);
  expect(valuesOf(/^ENVIRONMENT$/)).toEqual([set.split('-')[0]]);
  expect(valuesOf(/^ACCESS_TOKEN_ALGORITHM$/)).toHaveLength(1);
});

everySet('%s: a certificate of cert-manager is for the name that clients call', async (set) => {
  const objects = await objectsOfSet(set);
  for (const { metadata, spec } of ofKind(objects, 'Certificate')) {
    const component = metadata.labels['app.kubernetes.io/component'];
    const tls = podOf(objects, component)?.spec.volumes.find(({ name }: KubernetesObject) => name === 'tls');
    expect(tls?.secret.secretName, component).toBe(spec.secretName);
    expect(spec.usages, component).toEqual(['digital signature', 'server auth', 'client auth']);
    const targets = ['gateway', 'design-catalog'].flatMap((caller) =>
      Object.values(environmentOf(objects, caller)).filter((value) =>
        value?.startsWith(`dns:///${metadata.name}.`),
      ),
    );
    for (const target of targets)
      expect(spec.dnsNames).toContain(target.replace('dns:///', '').replace(/:\d+$/, ''));
  }
});

everySet('%s: both schemas are checked before either is changed, before any pod is', async (set) => {
  const objects = await objectsOfSet(set);
  const pod = podOf(objects, 'migrations');
  const steps = pod === undefined ? [] : containersOf(pod);
  const seeds = set.startsWith('test-') && JSON.stringify(objects).includes('demo-partner');
  expect(steps.map(({ name }) => name)).toEqual([
    'check-identity',
    'check-design-catalog',
    'migrate-identity',
    'migrate-design-catalog',
    ...(seeds ? ['seed'] : []),
  ]);
  // The first tells its faults and lets the second tell its own; then the migration checks again and ends the Job.
  const modes = steps.map(({ args }) => args.filter((word: string) => /^--(check|report)$/.test(word)));
  expect(modes).toEqual([['--report'], ['--check'], ...steps.slice(2).map(() => [])]);
  const hooks = objects
    .filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'] === 'pre-install,pre-upgrade')
    .map((object) => [nameOf(object).split('/')[0], object.metadata.annotations['helm.sh/hook-weight']]);
  const policy = ofKind(objects, 'NetworkPolicy').length > 0 ? [['NetworkPolicy', '-10']] : [];
  expect(hooks.sort()).toEqual([['Job', '0'], ...policy]);
});

withHelm('with the demo partner `helm test` tests the demo data', async () => {
  const objects = await objectsOfSet('test-hosts');
  expect(environmentOf(objects, 'contract-tests')).toEqual({
    CONTRACT_DEMO: 'true',
    CONTRACT_DEMO_PARTNER_URL: 'https://planner.test.exchange.courses-of-the-north.net',
    CONTRACT_ISSUER: 'https://test.exchange.courses-of-the-north.net',
    CONTRACT_BASE_URL: 'http://environment-course-exchange-gateway.exchange.svc.cluster.local:8080',
  });
  expect(podOf(objects, 'contract-tests')?.spec.volumes).toEqual([
    { name: 'temporary', emptyDir: { sizeLimit: '64Mi' } },
  ]);
  expect(ofKind(objects, 'NetworkPolicy').map(nameOf)).toContain(
    'NetworkPolicy/environment-course-exchange-contract-tests',
  );
});

withHelm('with a Secret `helm test` tests the partners in there', async () => {
  const environment = environmentOf(await objectsOfSet('test-everything-values'), 'contract-tests');
  expect(environment.CONTRACT_STACK).toBe('/run/course-exchange/secrets/stack.json');
  expect(Object.keys(environment).filter((name) => name.startsWith('CONTRACT_DEMO'))).toEqual([]);
});

withHelm('without either there is no test', async () => {
  const objects = await objectsOfSet('test-minimal-values');
  expect(podOf(objects, 'contract-tests')).toBeUndefined();
  expect(ofKind(objects, 'NetworkPolicy').map(nameOf)).not.toContain(
    'NetworkPolicy/environment-course-exchange-contract-tests',
  );
});
