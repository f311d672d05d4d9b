// Whatever the values' schema lets through, the programs accept: at the bounds of every value, pods start.
import { expect, test } from 'vitest';
import { programs } from '../generate/settings.ts';
import { containersOf, podsOf, readers } from './objects.ts';
import { helm, isMap, mergeValues, objectsOf, type Values, valuesWith } from './render.ts';
import { valueSchema, valuesText } from './value-schema.ts';
import { filesOf } from './value-sets.ts';
import { type Schema, valueTypes } from './value-types.ts';

interface Bounded {
  readonly path: readonly string[];
  /** Words that are allowed, or the ends of a range. */
  readonly allowed: readonly unknown[];
}

/** In the place of a bound that a range does not have. */
const large = 1_000;
/** What these are together is said in sentences. */
const apart: Values = {
  environment: 'test',
  redis: { mode: 'sentinel' },
  defaults: { terminationGracePeriodSeconds: 2 * large },
  ingress: { limits: { timeoutSeconds: large } },
  httpRoute: { requestTimeout: `${large}s` },
};
const bounded = boundedBelow(valueSchema(valuesText), []);

test.skipIf(helm === '').each([0, 1, 2, 3])('at bounds (%i) every setting is valid', async (turn) => {
  const values = bounded
    .map(({ path, allowed }) => valuesWith(path, allowed[turn % allowed.length]))
    .reduce<unknown>(mergeValues, {});
  const objects = await objectsOf({
    files: filesOf('test-everything-values'),
    values: mergeValues(values, apart) as Values,
  });
  const judged = podsOf(objects)
    .flatMap(containersOf)
    .flatMap(({ name: container, env = [] }) => judgedSettings(container, env));
  expect(judged.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['RPC_TIMEOUT_MS', 'LOGIN_TIMEOUT_MS', 'REDIS_MIN_REPLICAS', 'RPC_CALLS']),
  );
  expect(judged.filter(({ valid }) => !valid)).toEqual([]);
});

/** The settings of a container that its program reads from its environment. */
function judgedSettings(container: string, env: readonly { name: string; value?: string }[]) {
  const settings = programs[readers[container] ?? ''] ?? {};
  return env.flatMap(({ name, value }) => {
    const setting = settings[name];
    return setting ? [{ container, name, value, valid: setting.safeParse(value).success }] : [];
  });
}

function boundedBelow(schema: Schema, path: readonly string[]): readonly Bounded[] {
  if (isMap(schema.properties))
    return Object.entries(schema.properties).flatMap(([key, below]) =>
      boundedBelow(below as Schema, [...path, key]),
    );
  const type = /^#\/definitions\/(\w+)$/.exec(String(schema.$ref))?.[1];
  const { type: kind, enum: words, minimum, maximum = large } = type ? (valueTypes[type] ?? {}) : schema;
  if (Array.isArray(words)) return [{ path, allowed: words.filter((word) => word !== '') }];
  if (kind === 'integer') return [{ path, allowed: [minimum, maximum] }];
  return kind === 'number' ? [{ path, allowed: [minimum, maximum, Number(minimum) + 1e-5] }] : [];
}

const { items = {} } = valueTypes.trustedNetworks ?? {};
const proxies = new RegExp(String((items as Schema).pattern));
const trusted = programs.gateway?.TRUSTED_PROXIES;

test.each([
  ...['10.0.0.0/8', '192.0.2.1', '192.0.2.255/32', '2001:db8::/16', 'fd00::/128', '::1', 'FD00::1:2/120'],
  ...['::ffff:10.0.0.0/104', '1:2:3:4:5:6:7:8/64', '1:2:3:4:5:6:7::', '::2:3:4:5:6:7:8'],
])('the network %s is trusted by chart and gateway', (network) => {
  expect(proxies.test(network)).toBe(true);
  expect(trusted?.safeParse(network).success).toBe(true);
});

test.each([
  ...['0.0.0.0/0', '10.0.0.0/7', '10.0.0.0/33', '10.0.0.0/40', '10.0.0.256/32', '10.0.0/8', '010.0.0.1'],
  ...[
    '10:20:30',
    '1::2::3',
    '2001:db8:1/48',
    '::1.2',
    '::/0',
    '2001:db8::/15',
    '2001:db8::/129',
    'fd00',
    '12001::/32',
    '10.0.0.0/',
  ],
])('the network %s is trusted by neither', (network) => {
  expect(proxies.test(network)).toBe(false);
  expect(trusted?.safeParse(network).success).toBe(false);
});

// Each but the first holds all of IPv4, written as IPv6.
test.each(['10.0.0.0/08', '::ffff:0:0/96', '::/16', '0:0::/80'])(
  'the network %s is not trusted by the chart',
  (network) => {
    expect(proxies.test(network)).toBe(false);
  },
);
