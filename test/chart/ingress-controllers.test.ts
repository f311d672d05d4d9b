// How requests reach the gateway, for each kind of ingress controller: limits of size and time, http as it came, and what is
// done about a gateway that hangs or dies.
import { expect, test } from 'vitest';
import { ofKind } from './objects.ts';
import { helm, objectsOf, type Values } from './render.ts';
import { filesOf, objectsOfSet, valueSets } from './value-sets.ts';

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

const unredirected = {
  'nginx.ingress.kubernetes.io/ssl-redirect': 'false',
  'nginx.ingress.kubernetes.io/force-ssl-redirect': 'false',
};
const ofTraefik = 'traefik.ingress.kubernetes.io/router.middlewares';
const ofTraefiksService = 'traefik.ingress.kubernetes.io/service.serverstransport';
const [retry, transport] = ['retry', 'gateway'].map(
  (name) => `exchange-environment-course-exchange-${name}@kubernetescrd`,
);
withHelm.each<readonly [what: string, ingress: Values, annotations: Values]>([
  ['ingress-nginx', { className: 'nginx' }, unredirected],
  ['the default class', {}, unredirected],
  ['a class of any name', { className: 'public' }, unredirected],
  ['a controller without limits', { limits: { controller: 'none' } }, unredirected],
  ['no limits at all', { className: 'nginx', limits: null }, unredirected],
  ['an operator who says the same', { className: 'nginx', annotations: unredirected }, unredirected],
  [
    'Traefik for a class of ingress-nginx',
    { className: 'nginx', limits: { controller: 'traefik' } },
    { ...unredirected, [ofTraefik]: retry },
  ],
  ['Traefik', { limits: { controller: 'traefik' } }, { ...unredirected, [ofTraefik]: retry }],
])('what the Ingress says of redirects: %s [R28.5]', async (_, ingress, annotations) => {
  const objects = await objectsWith({ ingress });
  const [found] = ofKind(objects, 'Ingress');
  const said = Object.entries(found?.metadata.annotations ?? {}).filter(([name]) =>
    /redirect|middleware/.test(name),
  );
  expect(Object.fromEntries(said)).toEqual(annotations);
  const made = ofKind(objects, 'Middleware').map(({ apiVersion, metadata, spec }) => [
    apiVersion,
    `${metadata.namespace}-${metadata.name}@kubernetescrd`,
    spec,
  ]);
  const again = { retry: { attempts: 2, initialInterval: '100ms' } };
  expect(made).toEqual(annotations[ofTraefik] ? [['traefik.io/v1alpha1', retry, again]] : []);
});

withHelm.each(valueSets)(
  '%s: nothing redirects, and every path leads to the gateway [R28.5]',
  async (set) => {
    const objects = await objectsOfSet(set);
    expect(JSON.stringify(objects)).not.toMatch(
      /RequestRedirect|redirect(Scheme|Regex)|(permanent|temporal)-redirect|ssl-redirect":"(?!false")/,
    );
    const ofGateway = (kind: string) =>
      ofKind(objects, kind).filter(
        ({ metadata }) => metadata.labels['app.kubernetes.io/component'] === 'gateway',
      );
    const service = { name: ofGateway('Service')[0]?.metadata.name };
    for (const { spec } of ofGateway('Ingress')) {
      const backend = { service: { ...service, port: { name: 'http' } } };
      expect(spec.rules).toEqual([
        { host: expect.any(String), http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } },
      ]);
    }
    for (const { spec } of ofGateway('HTTPRoute')) {
      const matches = [{ path: { type: 'PathPrefix', value: '/' } }];
      const timeouts = expect.anything();
      expect(spec.rules).toEqual([{ matches, timeouts, backendRefs: [{ ...service, port: 8080 }] }]);
    }
  },
);

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

withHelm.each([
  ['15s', { request: '15s' }],
  ['', undefined],
])('an HTTPRoute with the time limit "%s"', async (requestTimeout, timeouts) => {
  const httpRoute = { enabled: true, parentRefs: [{ name: 'public' }], requestTimeout };
  const [route] = ofKind(await objectsWith({ httpRoute }), 'HTTPRoute');
  expect(route?.spec.rules[0].timeouts).toEqual(timeouts);
});
