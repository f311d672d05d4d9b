// How requests reach the gateway, for each kind of ingress controller: limits of size and time, http as it came, and what is
// done about a gateway that hangs or dies.
import { expect, test } from 'vitest';
import { ofKind } from './objects.ts';
import type { KubernetesObject, Values } from './render.ts';
import { renderAll, renderSets } from './rendered.ts';

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

const controllers: readonly (readonly [what: string, ingress: Values, annotations: Values])[] = [
  ['a class of ingress-nginx', { className: 'nginx-internal' }, limited],
  ['ingress-nginx by its own name', { className: 'public', controller: 'nginx' }, limited],
  ['the default class', {}, unredirected],
  ['a controller without limits', { className: 'nginx', controller: 'none' }, unredirected],
  ['an operator who says the same', { className: 'nginx', annotations: unredirected }, limited],
  ['Traefik, also for a class of ingress-nginx', { className: 'nginx', controller: 'traefik' }, ofTraefik],
];
const rendered = await renderAll(
  controllers.map(([, ingress]) => ({ on: 'test-minimal-values', values: { ingress } })),
);

test.each(controllers.map(([what, , annotations], at) => ({ what, annotations, at })))(
  'what the Ingress says of redirects, limits and other pods: $what [R28.5]',
  ({ annotations, at }) => {
    const objects = rendered[at]?.objects ?? [];
    expect(ofKind(objects, 'Ingress')[0]?.metadata.annotations).toEqual(annotations);
    const made = objects.filter(({ apiVersion }) => apiVersion === 'traefik.io/v1alpha1');
    const named = made.map(({ metadata, spec }) => [
      `${metadata.namespace}-${metadata.name}@kubernetescrd`,
      spec,
    ]);
    const services = ofKind(objects, 'Service').flatMap(({ metadata }) => metadata.annotations ?? []);
    const isTraefik = annotations === ofTraefik;
    const transportOf = { 'traefik.ingress.kubernetes.io/service.serverstransport': transport };
    expect(services).toEqual(isTraefik ? [transportOf] : []);
    const limits = { forwardingTimeouts: { dialTimeout: '2s', responseHeaderTimeout: '15s' } };
    const again = { retry: { attempts: 2, initialInterval: '100ms' } };
    expect(Object.fromEntries(named)).toEqual(
      isTraefik ? { [`${transport}`]: limits, [`${retry}`]: again } : {},
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
      const paths = [{ path: '/', pathType: 'Prefix', backend }];
      expect(spec.rules).toEqual([{ host: expect.any(String), http: { paths } }]);
      expect(spec).not.toHaveProperty('defaultBackend');
    }
    for (const { metadata, spec } of ofKind(objects, 'HTTPRoute')) {
      const matches = [{ path: { type: 'PathPrefix', value: '/' } }];
      const backendRefs = [{ name: metadata.name, port: 8080 }];
      expect(spec.rules).toEqual([{ matches, timeouts: { request: '12s' }, backendRefs }]);
    }
    const entries: KubernetesObject[] = ['Ingress', 'HTTPRoute'].flatMap((kind) => ofKind(objects, kind));
    for (const { metadata } of entries) expect(metadata.name).toMatch(/-(gateway|demo-partner)$/);
  },
);
