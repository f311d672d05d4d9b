// Bad values are refused before anything is installed, with a sentence that says what to do.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { renderAll } from './many.ts';
import { isMap, mergeValues, template, type Values, valuesWith } from './render.ts';
import { valueNodes } from './shipped-schema.ts';
import { filesOf } from './value-sets.ts';

type Refusals = Readonly<Record<string, Readonly<Record<string, Values | readonly Values[]>>>>;

/** Of values by their paths. */
const valuesAt = (paths: Values) =>
  Object.entries(paths)
    .map(([path, value]) => valuesWith(path.split('.'), value))
    .reduce<unknown>(mergeValues, {}) as Values;

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
    for (const line of refused.trim().split('\n')) expect(line).toMatch(/: .+\.$/);
  });

test('Helm ends with the sentences, of all mistakes at once', async () => {
  const { code, stderr } = await template({});
  expect(code).toBe(1);
  // values.yaml alone is refused: an environment is chosen, never fallen into.
  expect(stderr).toContain('environment is missing: set it to production or test.');
  expect(stderr).toContain('secrets.existingSecret is missing');
});

const mistyped = {
  'redis.mode': ['sentinel', 'cluster'],
  environment: 'staging',
  'gateway.replicas': 'two',
  'identity.replicas': 0,
  'postgres.port': '5432',
  'ingress.enabled': 'yes',
  'gateway.trustedProxies': ['ingress'],
  'identity.accessTokenAlgorithm': 'HS256',
  'gateway.image.digest': 'latest',
  'migrations.serviceAccount.create': true,
};
/** They were there once, or stand under other components. */
const gone = ['ingress.redirect', 'httpRoute.redirectFrom', 'demoPartner.autoscaling', 'tests.probes'];

test('a value of another type, and a key that nobody knows, is refused by the schema [R28.5]', async () => {
  const closed = valueNodes.filter(({ schema }) => isMap(schema.properties));
  expect(closed.length).toBeGreaterThan(60);
  const unknown = [
    ...gone,
    ...closed.map(({ path }) => [...path, ['unheardOf', ...path].join('-')].join('.')),
  ];
  const values = valuesAt({ ...mistyped, ...Object.fromEntries(unknown.map((path) => [path, {}])) });
  const { code, stderr } = await template({ files: minimal, values });
  // Of the answer, whose words change with Helm's version, names alone are judged. 3.18 and newer write /gateway/replicas.
  const said = stderr.replaceAll(/(?<=\w)\//g, '.');
  const names = [...Object.keys(mistyped), ...unknown.map((path) => path.split('.').at(-1) ?? '')];
  expect(names.filter((name) => !new RegExp(`(^|[^\\w.-])${name}(?![\\w-])`, 'm').test(said))).toEqual([]);
  expect(code).toBe(1);
});

test('`global` may hold anything that a parent chart puts there', async () => {
  const global = { anything: { at: ['all', 1] }, storageClass: 'fast', imageRegistry: 'images.courses.net' };
  const { code, stdout } = await template({ files: minimal, values: { global } });
  expect(code).toBe(0);
  expect(stdout).toContain('image: images.courses.net/course-exchange/gateway:');
});

const localStores = { 'postgres.host': 'localhost', 'postgres.readHost': '127.0.0.2' };
const inTheClear = { 'postgres.tls.mode': 'disable', 'redis.tls.enabled': false };
const elsewhere = { 'ingress.tls.terminatedElsewhere': true };
const accepted: Readonly<Record<string, Values>> = {
  'a host whose name only begins like an example': { 'postgres.host': 'pg.democracy.org' },
  'proxies on the loopback address': { ...localStores, 'redis.hosts': ['127.0.0.1:6379'], ...inTheClear },
  'TLS that a load balancer ends': { ...elsewhere, 'ingress.tls.enabled': false },
  'a load balancer that ends TLS in the place of an Ingress': {
    ...{ 'gateway.service.type': 'LoadBalancer', ...elsewhere, 'ingress.enabled': false },
  },
  'a registry with a port': { 'identity.image.repository': 'other.local:5000/courses/identity' },
  'no Ingress at all': { 'ingress.enabled': false, 'ingress.tls.enabled': false },
};

test('production accepts what only looks like a mistake', async () => {
  const cases = Object.values(accepted).map((paths) => ({ on: 'production-hosts', values: valuesAt(paths) }));
  const refused = (await renderAll(cases)).map((one, at) => [Object.keys(accepted)[at], one.refused]);
  expect(refused).toEqual(Object.keys(accepted).map((what) => [what, '']));
});
