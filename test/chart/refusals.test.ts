// Bad values are refused before anything is installed, with a sentence that says what to do; each of the others makes a
// difference.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import {
  chart,
  filesOf,
  isMap,
  renderAll,
  renderSets,
  template,
  type Values,
  valuesAt,
  valuesOf,
  valuesOfSet,
} from './render.ts';
import {
  documentedValues,
  removable,
  type Schema,
  valueTypes,
  went,
  withoutDefaults,
} from './value-schema.ts';

type Refusals = Readonly<Record<string, Readonly<Record<string, Values | readonly Values[]>>>>;

const minimal = filesOf('test-minimal-values');
const refusals = parse(readFileSync(join(import.meta.dirname, 'refusals.yaml'), 'utf8')) as Refusals;
const rows = Object.entries(refusals).flatMap(([on, sentences]) =>
  Object.entries(sentences).flatMap(([says, all]) =>
    [all].flat().map((paths) => ({ says, on, values: valuesAt(paths) })),
  ),
);
const rendered = await renderAll(rows);

for (const [at, { says }] of rows.entries())
  test(`refused: ${says}`, () => {
    const refused = rendered[at]?.refused ?? '';
    expect(refused).toContain(says.replace(/ \[R[\d.]+\]$/, ''));
    // What to do, or what else would happen.
    for (const line of refused.split('\n')) expect(line).toMatch(/: .+\.$/);
  });

test('Helm ends with the sentences, of all mistakes at once', async () => {
  const { exit, err } = await template(chart, []);
  expect(exit).toBe(1);
  // values.yaml alone is refused: an environment is chosen, never fallen into.
  expect(err).toContain('environment is missing: set it to production or test.');
  expect(err).toContain('secrets.existingSecret is missing');
});

test('a value that went is refused for a version, by what takes its place', async () => {
  const all = Object.entries({ ...went, 'tests.extraEnvFrom': went['defaults.extraEnvFrom'] });
  const values = valuesAt(Object.fromEntries(all.map(([path]) => [path, false])));
  const { exit, err } = await template(chart, minimal, values);
  expect(exit).toBe(1);
  for (const [path, instead] of all) expect(err).toContain(`${path} went: ${instead}`);
  const changes = readFileSync(join(chart, 'CHANGELOG.md'), 'utf8');
  for (const path of Object.keys(went)) expect(changes).toContain(`\`${path}\``);
});

const mistyped = {
  'redis.mode': ['sentinel', 'cluster'],
  environment: 'staging',
  'gateway.replicas': 'two',
  'identity.replicas': 0,
  'postgres.port': '5432',
  'ingress.enabled': 'yes',
  'gateway.trustedProxies': ['ingress', '0.0.0.0/0'],
  'identity.accessTokenAlgorithm': 'HS256',
  'image.digests.gateway': 'latest',
  issuer: 'https://exchange.test/path',
  'demoPartner.publicUrl': 'http://planner.test',
  'metrics.prometheusRule.runbookUrl': 'docs/on-call.md',
  'metrics.labels': { 'app.kubernetes.io/name': 'other' },
  'identity.podLabels': { 'app.kubernetes.io/component': 'other' },
  'httpRoute.requestTimeout': '10s',
  'ingress.annotations': { 'nginx.ingress.kubernetes.io/force-ssl-redirect': 'true' },
  'internalTls.certManager.issuerRef': { kind: 'ClusterIssuer' },
};
const ajv = new Ajv({ strict: false });

test.each<[type: string, taken: readonly unknown[], refused: readonly unknown[]]>([
  [
    'origin',
    ['', 'http://a.test:8080'],
    ['https://A.test', 'https://a.test/', 'https://a.test:443', 'a.test', 'ftp://a.test'],
  ],
  ['httpsOrigin', ['', 'https://a.test'], ['http://a.test']],
  ['requestTimeout', ['', '0s', '11s', '120s', '1m', '1h', '1m30s'], ['0', '9s', '10s', '1s500ms']],
  ['filters [R28.5]', [[{ type: 'ExtensionRef' }]], [[{}], [{ type: 'RequestRedirect' }]]],
  ['issuerRef', [{}, { name: 'a', kind: 'Issuer' }], [{ kind: 'Issuer' }, { group: 'a' }, { name: '' }]],
  ['ownLabels', [{ 'a.test/name': 'a' }], [{ 'helm.sh/chart': 'a' }, { 'app.kubernetes.io/version': 'a' }]],
  [
    'ingressAnnotations [R28.5]',
    [{ 'nginx.ingress.kubernetes.io/ssl-redirect': 'false', a: 'b' }],
    [{ 'nginx.ingress.kubernetes.io/ssl-redirect': 'true' }],
  ],
])('the schema knows a value by its type: %s', (type, taken, refused) => {
  const valid = ajv.compile(valueTypes[type.replace(' [R28.5]', '')] as Schema);
  expect([...taken, ...refused].filter((value) => valid(value))).toEqual(taken);
});
/** They were there once, stand under other components, or never were. */
const unknown = [
  ...['ingress.redirect', 'httpRoute.redirectFrom', 'demoPartner.autoscaling', 'tests.preStopSeconds'],
  ...['unheardOf', 'defaults.unheardOfDefault', 'postgres.roles.unheardOfRole'],
];

test('a value of another type, and a key that is unknown, is refused by the schema [R28.5]', async () => {
  const values = valuesAt({ ...mistyped, ...Object.fromEntries(unknown.map((path) => [path, {}])) });
  const { exit, err } = await template(chart, minimal, values);
  // Helm's words change with its version, so only names are compared. 3.18 and newer write /gateway/replicas.
  const said = err.replaceAll(/(?<=\w)\//g, '.');
  const names = [...Object.keys(mistyped), ...unknown.map((path) => path.split('.').at(-1) ?? '')];
  expect(names.filter((name) => !new RegExp(`(^|[^\\w.-])${name}(?![\\w-])`, 'm').test(said))).toEqual([]);
  expect(exit).toBe(1);
});

/** Paths of all keys of a map and of the maps in it, but for those that null may remove. */
function keysOf(map: unknown, above: readonly string[] = []): readonly (readonly string[])[] {
  const own = isMap(map) ? Object.entries(map).filter(([key]) => !removable.includes(key)) : [];
  return own.flatMap(([key, value]) => [[...above, key], ...keysOf(value, [...above, key])]);
}

/** `values` with null at a path. */
const nullAt = (values: Values, [key = '', ...rest]: readonly string[]): Values => ({
  ...values,
  [key]: rest.length === 0 ? null : nullAt((values[key] ?? {}) as Values, rest),
});

/** Helm's line about a key or about what its map lacks; it begins with `- ` and, from 3.18 on, `at `. */
const isNamed = (said: string, path: readonly string[]) =>
  said.split('\n').some((line) => {
    const [, where = '', what = ''] = /^- (?:at ')?([^:']*)'?: (.*)/.exec(line) ?? [];
    const at = where.replace('(root)', '').split(/[./]/).filter(Boolean).join();
    const key = path.at(-1) ?? '';
    return at === path.join() || (at === path.slice(0, -1).join() && what.split(/[ ',]+/).includes(key));
  });

test.each(['test-minimal-values', 'production-hosts'])('a null is refused by its key: %s', async (on) => {
  const defaults = valuesOf('values.yaml');
  const overrides = Object.entries(withoutDefaults).flatMap(([component, left]) =>
    keysOf(defaults.defaults, [component]).filter(([, key = '']) => !left.includes(key)),
  );
  const keys = [...keysOf(defaults), ...overrides];
  const depths = [...new Set(keys.map(({ length }) => length))];
  const accepted = depths.map(async (depth) => {
    const nulls = keys.filter(({ length }) => length === depth);
    const { err } = await template(chart, filesOf(on), nulls.reduce(nullAt, {}));
    return nulls.filter((path) => !isNamed(err, path)).map((path) => path.join('.'));
  });
  expect((await Promise.all(accepted)).flat()).toEqual([]);
});

const localStores = { 'postgres.host': 'localhost', 'postgres.readHost': '127.0.0.2' };
const inTheClear = { 'postgres.tls.mode': 'disable', 'redis.tls.enabled': false };
const elsewhere = { 'ingress.tls.terminatedElsewhere': true };
const accepted: Readonly<Record<string, Values>> = {
  'a host whose name only begins like an example': { 'postgres.host': 'pg.democracy.org' },
  'proxies on the loopback address': { ...localStores, 'redis.hosts': ['127.0.0.1:6379'], ...inTheClear },
  'a load balancer that ends TLS instead of an Ingress': {
    ...{ 'gateway.service.type': 'LoadBalancer', ...elsewhere, 'ingress.enabled': false },
  },
};

test('production accepts what only looks like a mistake', async () => {
  const cases = Object.values(accepted).map((paths) => ({ on: 'production-hosts', values: valuesAt(paths) }));
  const refused = (await renderAll(cases)).map((one, at) => [Object.keys(accepted)[at], one.refused]);
  expect(refused).toEqual(Object.keys(accepted).map((what) => [what, '']));
});

const valueAt = (values: Values, path: readonly string[]) =>
  path.reduce<unknown>((below, key) => (isMap(below) ? below[key] : undefined), values);
const isEqual = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** What makes the default of what is there now: a map laid over another one leaves what the other alone has. */
function reset(now: unknown, fallback: unknown): unknown {
  if (!isMap(now) || !isMap(fallback)) return fallback;
  return { ...Object.fromEntries(Object.keys(now).map((key) => [key, null])), ...fallback };
}

test('each value is set in ci/; back at its default it changes the objects or is refused', async () => {
  const sets = await renderSets();
  const changes = documentedValues.map(({ path, defaultValue }) => {
    const before = sets.findLast(({ set }) => !isEqual(valueAt(valuesOfSet(set), path), defaultValue));
    const now = valueAt(valuesOfSet(before?.set ?? ''), path);
    return { name: path.join('.'), before, fallback: reset(now, defaultValue) };
  });
  expect(changes.filter(({ before }) => before === undefined).map(({ name }) => name)).toEqual([]);
  const cases = changes.map(({ name, before, fallback }) => ({
    on: before?.set ?? '',
    values: valuesAt({ [name]: fallback }),
  }));
  const rendered = await renderAll(cases);
  const ignored = changes.filter(({ before }, at) => {
    const { objects, refused } = rendered[at] ?? {};
    return isEqual([objects, refused], [before?.objects, before?.refused]);
  });
  expect(ignored.map(({ name }) => name)).toEqual([]);
});
