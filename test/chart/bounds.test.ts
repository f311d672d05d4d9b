// Whatever the values' schema lets through, the programs accept: at the bounds of every value, pods start.
import { expect, test } from 'vitest';
import { programs } from '../generate/settings.ts';
import { renderAll } from './many.ts';
import { containersOf, podsOf, programOf } from './objects.ts';
import { type KubernetesObject, mergeValues, type Values, valuesWith } from './render.ts';
import { shippedSchema, type ValueNode, valueNodes } from './shipped-schema.ts';
import type { Schema } from './value-types.ts';

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

/** Words that are allowed, or the ends of a range; none for any other value. */
function boundsOf({ type, minimum, maximum = large, enum: words }: Schema): readonly unknown[] {
  if (Array.isArray(words)) return words.filter((word) => word !== '');
  if (type === 'integer') return [minimum, maximum];
  return type === 'number' ? [minimum, maximum, Number(minimum) + 1e-5] : [];
}

function valuesAtBounds(turn: number): Values {
  const values = valueNodes.flatMap(({ path, schema }: ValueNode) => {
    const bounds = boundsOf(schema);
    return bounds.length === 0 ? [] : [valuesWith(path, bounds[turn % bounds.length])];
  });
  return [...values, apart].reduce<unknown>(mergeValues, {}) as Values;
}

test('at the bounds of all values every setting is valid', async () => {
  const turns = [0, 1, 2, 3].map((turn) => ({ on: 'test-everything-values', values: valuesAtBounds(turn) }));
  for (const { objects, refused } of await renderAll(turns)) {
    expect(refused).toBe('');
    const judged = containersOf(podsOf(objects)).flatMap(({ name: container, env }) =>
      env.flatMap(({ name, value }: KubernetesObject) => {
        const setting = programs[programOf(container)]?.[name];
        return setting ? [{ container, name, value, valid: setting.safeParse(value).success }] : [];
      }),
    );
    const names = judged.map(({ name }) => name);
    for (const name of ['RPC_TIMEOUT_MS', 'LOGIN_TIMEOUT_MS', 'REDIS_MIN_REPLICAS'])
      expect(names).toContain(name);
    expect(judged.filter(({ valid }) => !valid)).toEqual([]);
  }
});

const { items } = shippedSchema.definitions.trustedNetworks ?? {};
const proxies = new RegExp(String((items as Schema).pattern));
const trusted = programs.gateway?.TRUSTED_PROXIES;

const believed = [
  ...['10.0.0.0/8', '192.0.2.1', '192.0.2.255/32', '2001:db8::/16', 'fd00::/128', '::1', 'FD00::1:2/120'],
  ...['::ffff:10.0.0.0/104', '1:2:3:4:5:6:7:8/64', '1:2:3:4:5:6:7::', '::2:3:4:5:6:7:8'],
];
const unknown = [
  ...['0.0.0.0/0', '10.0.0.0/7', '10.0.0.0/33', '10.0.0.0/40', '10.0.0.256/32', '10.0.0/8', '010.0.0.1'],
  ...['10:20:30', '1::2::3', '2001:db8:1/48', '::1.2', '::/0', '2001:db8::/15', '2001:db8::/129', 'fd00'],
  ...['12001::/32', '10.0.0.0/'],
];
/** Each but the first holds all of IPv4, written as IPv6. */
const tooWide = ['10.0.0.0/08', '::ffff:0:0/96', '::/16', '0:0::/80'];

test('the chart trusts no network that the gateway does not', () => {
  expect([...believed, ...unknown, ...tooWide].filter((network) => proxies.test(network))).toEqual(believed);
  const accepted = [...believed, ...unknown].filter((network) => trusted?.safeParse(network).success);
  expect(accepted).toEqual(believed);
});
