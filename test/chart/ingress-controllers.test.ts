// How requests reach the gateway, for each kind of ingress controller: limits of size and time, the way from http to https, and
// what is done about a gateway that hangs or dies.
import { expect, test } from 'vitest';
import { ofKind } from './objects.ts';
import { helm, mergeValues, objectsOf, type Values } from './render.ts';
import { filesOf } from './value-sets.ts';

const withHelm = test.skipIf(helm === '');
const objectsWith = (values: Values) => objectsOf({ files: filesOf('test-minimal-values'), values });

withHelm.each([
  ['nginx', 'auto', true],
  ['nginx-internal', 'auto', true],
  ['public', 'auto', false],
  ['public', 'nginx', true],
  ['nginx', 'none', false],
])('class %s, limits of %s: are there annotations? %s', async (className, controller, there) => {
  const objects = await objectsWith({ ingress: { className, limits: { controller } } });
  const [ingress] = ofKind(objects, 'Ingress');
  const annotated = Object.keys(ingress?.metadata.annotations ?? {});
  expect(annotated.includes('nginx.ingress.kubernetes.io/proxy-body-size')).toBe(there);
});

const ofNginx = 'nginx.ingress.kubernetes.io/ssl-redirect';
const ofTraefik = 'traefik.ingress.kubernetes.io/router.middlewares';
const ofTraefiksService = 'traefik.ingress.kubernetes.io/service.serverstransport';
const [https, retry, transport] = ['https', 'retry', 'gateway'].map(
  (name) => `exchange-environment-course-exchange-${name}@kubernetescrd`,
);
const elsewhere = { enabled: false, terminatedElsewhere: true };
withHelm.each<readonly [what: string, controller: string, values: Values, annotations: Values]>([
  ['ingress-nginx', 'nginx', {}, { [ofNginx]: 'true' }],
  ['ingress-nginx that is told not to', 'nginx', { ingress: { redirect: false } }, { [ofNginx]: 'false' }],
  ['ingress-nginx that sees http alone', 'nginx', { ingress: { tls: elsewhere } }, { [ofNginx]: 'false' }],
  ['Traefik', 'traefik', {}, { [ofTraefik]: `${https},${retry}` }],
  ['Traefik that is told not to', 'traefik', { ingress: { redirect: false } }, { [ofTraefik]: retry }],
  ['Traefik that sees http alone', 'traefik', { ingress: { tls: elsewhere } }, { [ofTraefik]: retry }],
  ['Traefik for an http issuer', 'traefik', { issuer: 'http://exchange.test' }, { [ofTraefik]: retry }],
  ['a controller that nobody knows', 'none', {}, {}],
])('the way from http to https: %s [R28.3]', async (_, controller, values, annotations) => {
  const limits = { ingress: { limits: { controller } } };
  const objects = await objectsWith(mergeValues(limits, values) as Values);
  const [ingress] = ofKind(objects, 'Ingress');
  const found = Object.entries(ingress?.metadata.annotations ?? {});
  expect(Object.fromEntries(found.filter(([name]) => [ofNginx, ofTraefik].includes(name)))).toEqual(
    annotations,
  );
  const made = ofKind(objects, 'Middleware').map(({ apiVersion, metadata, spec }) => [
    apiVersion,
    `${metadata.namespace}-${metadata.name}@kubernetescrd`,
    spec,
  ]);
  const redirect = { redirectScheme: { scheme: 'https', permanent: true } };
  const again = { retry: { attempts: 2, initialInterval: '100ms' } };
  const named = String(annotations[ofTraefik] ?? '');
  const expected = [[https, redirect] as const, [retry, again] as const].filter(([name = '']) =>
    named.includes(name),
  );
  expect(made).toEqual(expected.map(([name, spec]) => ['traefik.io/v1alpha1', name, spec]));
});

withHelm('a gateway that hangs or dies: what ingress-nginx and Traefik are told', async () => {
  const objects = (controller: string) => objectsWith({ ingress: { limits: { controller } } });
  const [ingress] = ofKind(await objects('nginx'), 'Ingress');
  expect(ingress?.metadata.annotations).toMatchObject({
    'nginx.ingress.kubernetes.io/proxy-connect-timeout': '2',
    'nginx.ingress.kubernetes.io/proxy-next-upstream': 'error timeout',
    'nginx.ingress.kubernetes.io/proxy-next-upstream-tries': '2',
  });
  const ofTraefiks = await objects('traefik');
  const annotated = ofKind(ofTraefiks, 'Service').filter(({ metadata }) => metadata.annotations);
  expect(annotated.map(({ metadata }) => [metadata.name, metadata.annotations])).toEqual([
    ['environment-course-exchange-gateway', { [ofTraefiksService]: transport }],
  ]);
  const [{ metadata, spec } = { metadata: { name: '' } }] = ofKind(ofTraefiks, 'ServersTransport');
  expect(`${metadata.namespace}-${metadata.name}@kubernetescrd`).toBe(transport);
  expect(spec).toEqual({ forwardingTimeouts: { dialTimeout: '2s', responseHeaderTimeout: '15s' } });
});

withHelm('the way from http to https: a Gateway of the Gateway API [R28.3]', async () => {
  const parents = (sectionName: string) => [{ name: 'public', sectionName }];
  const httpRoute = { enabled: true, parentRefs: parents('https'), redirectFrom: parents('http') };
  const routes = ofKind(await objectsWith({ httpRoute }), 'HTTPRoute').map(({ spec }) => spec);
  const led = routes.find(({ parentRefs }) => parentRefs[0].sectionName === 'http');
  expect(routes).toHaveLength(2);
  expect(led?.hostnames).toEqual(['exchange.test']);
  expect(led?.rules).toEqual([
    { filters: [{ type: 'RequestRedirect', requestRedirect: { scheme: 'https', statusCode: 301 } }] },
  ]);
});

withHelm.each([
  ['15s', { request: '15s' }],
  ['', undefined],
])('an HTTPRoute with the time limit "%s"', async (requestTimeout, timeouts) => {
  const httpRoute = { enabled: true, parentRefs: [{ name: 'public' }], requestTimeout };
  const [route] = ofKind(await objectsWith({ httpRoute }), 'HTTPRoute');
  expect(route?.spec.rules[0].timeouts).toEqual(timeouts);
});
