// How requests reach the gateway, for each kind of ingress controller: limits of size and time, http as it came, and what is
// done about a gateway that hangs or dies.
import { expect, test } from 'vitest';
import { renderAll, renderSets } from './many.ts';
import { ofKind } from './objects.ts';
import type { KubernetesObject, Values } from './render.ts';

const unredirected = {
  'nginx.ingress.kubernetes.io/ssl-redirect': 'false',
  'nginx.ingress.kubernetes.io/force-ssl-redirect': 'false',
};
const limited = {
  ...unredirected,
  'nginx.ingress.kubernetes.io/proxy-body-size': '64k',
  'nginx.ingress.kubernetes.io/proxy-connect-timeout': '2',
  'nginx.ingress.kubernetes.io/proxy-read-timeout': '15',
  'nginx.ingress.kubernetes.io/proxy-send-timeout': '15',
  'nginx.ingress.kubernetes.io/proxy-next-upstream': 'error timeout',
  'nginx.ingress.kubernetes.io/proxy-next-upstream-tries': '2',
};
const [retry, transport] = ['retry', 'gateway'].map(
  (name) => `exchange-environment-course-exchange-${name}@kubernetescrd`,
);
const ofTraefik = { ...unredirected, 'traefik.ingress.kubernetes.io/router.middlewares': retry };
const traefik = { limits: { controller: 'traefik' } };

const controllers: readonly (readonly [what: string, ingress: Values, annotations: Values])[] = [
  ['ingress-nginx', { className: 'nginx' }, limited],
  ['a class of ingress-nginx by another name', { className: 'nginx-internal' }, limited],
  ['ingress-nginx by its own name', { className: 'public', limits: { controller: 'nginx' } }, limited],
  ['the default class', {}, unredirected],
  ['a class of any name', { className: 'public' }, unredirected],
  ['a controller without limits', { className: 'nginx', limits: { controller: 'none' } }, unredirected],
  ['no limits at all', { className: 'nginx', limits: null }, unredirected],
  ['an operator who says the same', { className: 'nginx', annotations: unredirected }, limited],
  ['Traefik for a class of ingress-nginx', { className: 'nginx', ...traefik }, ofTraefik],
  ['Traefik', traefik, ofTraefik],
];
const rendered = await renderAll(
  controllers.map(([, ingress]) => ({ on: 'test-minimal-values', values: { ingress } })),
);

test.each(controllers.map(([what, , annotations], at) => ({ what, annotations, at })))(
  'what the Ingress says of redirects, limits and other pods: $what [R28.5]',
  ({ annotations, at }) => {
    const objects = rendered[at]?.objects ?? [];
    expect(ofKind(objects, 'Ingress')[0]?.metadata.annotations).toEqual(annotations);
    const made = ['Middleware', 'ServersTransport'].flatMap((kind) => ofKind(objects, kind));
    const named = made.map(({ apiVersion, metadata, spec }) => [
      apiVersion,
      `${metadata.namespace}-${metadata.name}@kubernetescrd`,
      spec,
    ]);
    const again = { retry: { attempts: 2, initialInterval: '100ms' } };
    const limits = { forwardingTimeouts: { dialTimeout: '2s', responseHeaderTimeout: '15s' } };
    const services = ofKind(objects, 'Service').filter(({ metadata }) => metadata.annotations);
    const toServices = services.map(({ metadata }) => [metadata.name, metadata.annotations]);
    const isTraefik = annotations === ofTraefik;
    const [api, service] = ['traefik.io/v1alpha1', 'environment-course-exchange-gateway'];
    expect(named).toEqual(
      isTraefik
        ? [
            [api, retry, again],
            [api, transport, limits],
          ]
        : [],
    );
    expect(toServices).toEqual(
      isTraefik ? [[service, { 'traefik.ingress.kubernetes.io/service.serverstransport': transport }]] : [],
    );
  },
);

test.each(await renderSets())(
  '$set: nothing redirects, and every path leads to the public port [R28.5]',
  ({ objects }) => {
    expect(JSON.stringify(objects)).not.toMatch(
      /RequestRedirect|redirect(Scheme|Regex)|(permanent|temporal)-redirect|ssl-redirect":"(?!false")/,
    );
    for (const { metadata, spec } of ofKind(objects, 'Ingress')) {
      const backend = { service: { name: metadata.name, port: { name: 'http' } } };
      const http = { paths: [{ path: '/', pathType: 'Prefix', backend }] };
      expect({ ...spec, ingressClassName: '', tls: [] }).toEqual({
        ...{ ingressClassName: '', tls: [], rules: [{ host: expect.any(String), http }] },
      });
    }
    for (const { metadata, spec } of ofKind(objects, 'HTTPRoute')) {
      const matches = [{ path: { type: 'PathPrefix', value: '/' } }];
      const backendRefs = [{ name: metadata.name, port: 8080 }];
      expect(spec.rules).toEqual([{ matches, timeouts: expect.anything(), backendRefs }]);
    }
    const entries = ['Ingress', 'HTTPRoute'].flatMap((kind) => ofKind(objects, kind));
    for (const { metadata } of entries) expect(metadata.name).toMatch(/-(gateway|demo-partner)$/);
  },
);

test('an HTTPRoute has a time limit, or none', async () => {
  const cases = ['15s', ''].map((requestTimeout) => ({
    on: 'test-minimal-values',
    values: { httpRoute: { enabled: true, parentRefs: [{ name: 'public' }], requestTimeout } },
  }));
  const routes = (await renderAll(cases)).flatMap(({ objects }) => ofKind(objects, 'HTTPRoute'));
  const limits = routes.map(({ spec }: KubernetesObject) => spec.rules[0].timeouts);
  expect(limits).toEqual([{ request: '15s' }, undefined]);
});
