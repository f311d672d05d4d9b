// How requests reach the gateway, for each kind of ingress controller: limits of size and time, http as it came, and what is
// done about a gateway that hangs or dies.
import { expect, test } from 'vitest';
import { ofKind } from './objects.ts';
import { type KubernetesObject, renderAll, renderSets, type Values } from './render.ts';

const under = (prefix: string, values: Values) =>
  Object.fromEntries(
    Object.entries(values).map(([key, value]) => [`${prefix}.ingress.kubernetes.io/${key}`, value]),
  );
const unredirected = under('nginx', { 'ssl-redirect': 'false', 'force-ssl-redirect': 'false' });
/** Whatever the controller: a longer buffer is no limit. */
const always = {
  ...unredirected,
  ...under('nginx', { 'proxy-buffer-size': '16k' }),
  'nginx.org/proxy-buffer-size': '16k',
  'nginx.org/proxy-buffers': '4 16k',
};
const limited = (seconds: string, more: Values = {}) => ({
  ...always,
  ...under('nginx', {
    'proxy-body-size': '64k',
    'proxy-connect-timeout': '1',
    'proxy-read-timeout': seconds,
    'proxy-send-timeout': seconds,
    'proxy-next-upstream': 'error timeout',
    'proxy-next-upstream-tries': '4',
    ...more,
  }),
});
const own = (name: string) => `environment-course-exchange-${name}`;
const known = (name: string) => `exchange-${own(name)}@kubernetescrd`;
const issuer = { 'cert-manager.io/cluster-issuer': 'public' };
const bound = { 'limit-connections': '9' };
const middlewares = ['retry', 'connections'].map(known).join();
const byTraefik = { ...always, ...under('traefik', { 'router.middlewares': middlewares }) };

/** By Ingress. cert-manager makes the certificate for one of them. */
const controllers: readonly (readonly [what: string, ingress: Values, annotations: Values])[] = [
  [
    'a class of ingress-nginx',
    { className: 'nginx-internal' },
    { gateway: limited('3'), 'gateway-login': limited('15') },
  ],
  [
    'ingress-nginx by its own name, with a bound for each address',
    { controller: 'nginx', connectionsPerAddress: 9, annotations: { ...unredirected, ...issuer } },
    { gateway: { ...limited('3', bound), ...issuer }, 'gateway-login': limited('15', bound) },
  ],
  ['the default class', {}, { gateway: always }],
  ['a controller without limits', { className: 'nginx', controller: 'none' }, { gateway: always }],
  [
    'Traefik for a class of ingress-nginx, with a bound for each address',
    { className: 'nginx', controller: 'traefik', connectionsPerAddress: 9 },
    { gateway: byTraefik, 'gateway-login': byTraefik },
  ],
];
const rendered = await renderAll(
  controllers.map(([, ingress]) => ({ on: 'test-minimal-values', values: { ingress } })),
);

test.each(controllers.map(([what, , annotations], at) => ({ what, annotations, at })))(
  'redirects, buffers, limits and other pods in the Ingresses: $what [R28.5]',
  ({ annotations, at }) => {
    const ingresses = ofKind(rendered[at]?.objects ?? [], 'Ingress');
    const said = ingresses.map(({ metadata }) => [metadata.name, metadata.annotations]);
    const expected = Object.entries(annotations).map(([name, all]) => [own(name), all]);
    expect(Object.fromEntries(said)).toEqual(Object.fromEntries(expected));
  },
);

test('production bounds the connections from one address', async () => {
  const sets = await renderAll([{ on: 'production-hosts' }, { on: 'production-traefik' }]);
  const [byNginx = [], byTraefik = []] = sets.map(({ objects }) => objects);
  const bounds = ofKind(byNginx, 'Ingress').map(
    ({ metadata }) => metadata.annotations?.['nginx.ingress.kubernetes.io/limit-connections'],
  );
  expect(bounds).toEqual(['500', '500']);
  const [middleware] = ofKind(byTraefik, 'Middleware').filter(({ spec }) => 'inFlightReq' in spec);
  expect(middleware?.spec.inFlightReq).toMatchObject({ amount: 500 });
});

test('an Ingress has TLS unless a load balancer ends it, and then with a certificate of its own', async () => {
  const own = { existingSecret: 'own' };
  const elsewhere = { terminatedElsewhere: true };
  const rendered = await renderAll(
    [own, { ...elsewhere, existingSecret: '' }, { ...elsewhere, ...own }].map((tls) => ({
      on: 'production-hosts',
      values: { ingress: { tls } },
    })),
  );
  const tlsOf = ({ objects }: (typeof rendered)[number]) =>
    ofKind(objects, 'Ingress').map(({ spec }) => spec.tls?.[0].secretName);
  expect(rendered.map(tlsOf)).toEqual([
    ['own', 'own'],
    [undefined, undefined],
    ['own', 'own'],
  ]);
});

test('Traefik leaves a gateway that hangs after 3 s (/login: 15) and tries one that is gone four times', () => {
  const objects = rendered.at(-1)?.objects ?? [];
  const made = objects.filter(({ apiVersion }) => apiVersion === 'traefik.io/v1alpha1');
  const waiting = (responseHeaderTimeout: string) => ({
    forwardingTimeouts: { dialTimeout: '500ms', responseHeaderTimeout },
  });
  expect(Object.fromEntries(made.map(({ metadata, spec }) => [metadata.name, spec]))).toEqual({
    [own('gateway')]: waiting('3s'),
    [own('gateway-login')]: waiting('15s'),
    [own('retry')]: { retry: { attempts: 4, initialInterval: '100ms' } },
    [own('connections')]: { inFlightReq: { amount: 9, sourceCriterion: { ipStrategy: {} } } },
  });
  const services = ofKind(objects, 'Service').flatMap(({ metadata: { name, annotations = {} } }) =>
    Object.values(annotations).map((transport) => [name, transport]),
  );
  expect(services).toEqual(['gateway', 'gateway-login'].map((name) => [own(name), known(name)]));
});

test.each(await renderSets())(
  '$set: nothing redirects, and every path leads to the public port [R28.5]',
  ({ objects }) => {
    expect(JSON.stringify(objects)).not.toMatch(
      /RequestRedirect|redirect(Scheme|Regex)|(permanent|temporal)-redirect|ssl-redirect":"(?!false")/,
    );
    for (const { metadata, spec } of ofKind(objects, 'Ingress')) {
      const backend = { service: { name: metadata.name, port: { name: 'http' } } };
      const path = metadata.name.endsWith('-login')
        ? { path: '/login', pathType: 'Exact' }
        : { path: '/', pathType: 'Prefix' };
      expect(spec.rules).toEqual([{ host: expect.any(String), http: { paths: [{ ...path, backend }] } }]);
      expect(spec).not.toHaveProperty('defaultBackend');
    }
    const routes = ofKind(objects, 'HTTPRoute');
    const filters = [{ type: 'ExtensionRef', extensionRef: expect.anything() }];
    const rulesOf = (name: string, port: number, byPath: readonly (readonly [string, string, Values])[]) =>
      byPath.map(([type, value, timeouts]) => {
        const matches = [{ path: { type, value } }];
        return { matches, timeouts, filters, backendRefs: [{ name: own(name), port }] };
      });
    const request = '12s';
    const expected = {
      'everything.test': rulesOf('gateway', 8080, [
        ['Exact', '/login', { request }],
        ['PathPrefix', '/', { request, backendRequest: '3s' }],
      ]),
      'planner.test': rulesOf('demo-partner', 9000, [['PathPrefix', '/', { request }]]),
    };
    expect(Object.fromEntries(routes.map(({ spec }) => [spec.hostnames.join(), spec.rules]))).toEqual(
      routes.length > 0 ? expected : {},
    );
    const entries: KubernetesObject[] = ['Ingress', 'HTTPRoute'].flatMap((kind) => ofKind(objects, kind));
    for (const { metadata } of entries) expect(metadata.name).toMatch(/-(gateway(-login)?|demo-partner)$/);
  },
);
