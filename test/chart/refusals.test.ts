// Bad values are refused before anything is installed, with a sentence that says what to do.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { helm, mergeValues, template, type Values, valuesWith } from './render.ts';
import { closedPaths, documentedValues, valuesText } from './value-schema.ts';
import { filesOf } from './value-sets.ts';

type Refusals = Readonly<Record<string, Readonly<Record<string, { values: Values; says: string }>>>>;

const concurrently = test.skipIf(helm === '').concurrent;
const render = (on: string, values: Values) => template({ files: filesOf(on), values });
const refusals = Object.entries(
  parse(readFileSync(join(import.meta.dirname, 'refusals.yaml'), 'utf8')) as Refusals,
).flatMap(([on, rows]) => Object.entries(rows).map(([what, row]) => [what, { on, ...row }] as const));

concurrently.each(refusals)('refused: %s', async (_, { on, values, says }) => {
  const { code, stderr } = await render(on, values);
  expect(stderr).toContain(says);
  expect(code).toBe(1);
});

/** Of the schema's answer, whose words change with Helm's version, the path alone is judged. */
concurrently.each<readonly [what: string, values: Values, path: string]>([
  ['two modes of Redis at once', { redis: { mode: ['sentinel', 'cluster'] } }, 'redis.mode'],
  ['an unknown mode of Redis', { redis: { mode: 'both' } }, 'redis.mode'],
  ['an unknown environment', { environment: 'staging' }, 'environment'],
  ['a number as text', { gateway: { replicas: 'two' } }, 'gateway.replicas'],
  ['no pods', { gateway: { replicas: 0 } }, 'gateway.replicas'],
  ['a port as text', { postgres: { port: '5432' } }, 'postgres.port'],
  ['a truth as text', { ingress: { enabled: 'yes' } }, 'ingress.enabled'],
  ['a trusted proxy by name', { gateway: { trustedProxies: ['ingress'] } }, 'gateway.trustedProxies.0'],
  ['an unknown algorithm', { identity: { accessTokenAlgorithm: 'HS256' } }, 'identity.accessTokenAlgorithm'],
  ['a redirect of the chart, which is gone [R28.5]', { ingress: { redirect: true } }, 'ingress'],
  ['a route that redirects, which is gone [R28.5]', { httpRoute: { redirectFrom: [] } }, 'httpRoute'],
  ['a digest that is none', { gateway: { image: { digest: 'latest' } } }, 'gateway.image.digest'],
])('%s is refused by the schema', async (_, values, path) => {
  const { code, stderr } = await render('test-minimal-values', values);
  expect(stderr).toMatch(/values don't meet the specifications of the schema/);
  // Helm 3.18 and newer write /gateway/replicas.
  expect(stderr.replaceAll(/(?<=\w)\//g, '.')).toMatch(new RegExp(`[- '/]${path.replaceAll('.', '\\.')}\\b`));
  expect(code).toBe(1);
});

concurrently('an unknown key is refused wherever the chart fixes the keys', async () => {
  const closed = closedPaths(documentedValues(valuesText).values);
  expect(closed.length).toBeGreaterThan(60);
  const unknown = closed.map((path) => [...path, ['unheardOf', ...path].join('-')]);
  const values = unknown.map((path) => valuesWith(path, 1)).reduce<unknown>(mergeValues, {}) as Values;
  const { code, stderr } = await render('test-minimal-values', values);
  const names = unknown.map((path) => path.at(-1) ?? '');
  expect(names.filter((name) => !new RegExp(`${name}(?![\\w-])`).test(stderr))).toEqual([]);
  expect(code).toBe(1);
});

concurrently('a host whose name only begins like an example is accepted', async () => {
  const { code, stderr } = await render('production-hosts', { postgres: { host: 'pg.democracy.org' } });
  expect(stderr).toBe('');
  expect(code).toBe(0);
});

concurrently.each<readonly [what: string, values: Values]>([
  [
    'stores behind proxies on the loopback address',
    {
      postgres: { host: 'localhost', readHost: '127.0.0.2', tls: { mode: 'disable' } },
      redis: { hosts: ['127.0.0.1:6379'], tls: { enabled: false } },
    },
  ],
  ['TLS that a load balancer ends', { ingress: { tls: { enabled: false, terminatedElsewhere: true } } }],
  [
    'a load balancer that ends TLS in the place of an Ingress',
    {
      gateway: { service: { type: 'LoadBalancer' } },
      ingress: { enabled: false, tls: { terminatedElsewhere: true } },
    },
  ],
  ['no Ingress at all', { ingress: { enabled: false, tls: { enabled: false } } }],
])('production accepts %s', async (_, values) => {
  const { code, stderr } = await render('production-hosts', values);
  expect(stderr).toBe('');
  expect(code).toBe(0);
});

concurrently('all mistakes are told at once', async () => {
  const { stderr } = await render('test-minimal-values', { issuer: '', secrets: { existingSecret: '' } });
  expect(stderr).toContain('issuer is missing');
  expect(stderr).toContain('secrets.existingSecret is missing');
});

concurrently('`global` may hold anything that a parent chart puts there', async () => {
  const global = { anything: { at: ['all', 1] }, storageClass: 'fast', imageRegistry: 'images.courses.net' };
  const { code, stdout } = await render('test-minimal-values', { global });
  expect(code).toBe(0);
  expect(stdout).toContain('image: images.courses.net/course-exchange/gateway:');
});

concurrently('values.yaml alone is refused: an environment is chosen, never fallen into', async () => {
  const { code, stderr } = await template({});
  expect(code).toBe(1);
  expect(stderr).toContain('environment is missing: set it to production or test.');
});
