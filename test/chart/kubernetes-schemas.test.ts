// What judges rendered objects judges rightly: the schemas find unknown fields, wrong types and unknown kinds.
import { expect, test } from 'vitest';
import { schemaErrors } from './kubernetes-schemas.ts';

const deployment = (spec: object, container: object = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'one' },
  spec: {
    selector: { matchLabels: { app: 'one' } },
    template: { spec: { containers: [{ name: 'one', image: 'one:1', ...container }] } },
    ...spec,
  },
});

test('an object as the API server knows it has no mistake', () => {
  const resources = { requests: { cpu: '100m', memory: 1 } };
  expect(schemaErrors(deployment({ replicas: 2 }, { resources }))).toEqual([]);
});

test.each([
  ['an unknown field', deployment({ replica: 2 }), '/spec must NOT have additional properties (replica)'],
  ['a wrong type', deployment({ replicas: 'two' }), '/spec/replicas must be integer'],
  [
    'a number where a text stands',
    deployment({}, { env: [{ name: 'A', value: 1 }] }),
    '/spec/template/spec/containers/0/env/0/value must be string',
  ],
])('%s is a mistake', (_, object, mistake) => {
  expect(schemaErrors(object)).toEqual([`Deployment/one${mistake}`]);
});

test('a kind without a schema is told', () => {
  expect(schemaErrors({ apiVersion: 'v1', kind: 'Deployment' })).toEqual([
    'v1 Deployment has no schema: add it to test/chart/schemas/collect.ts',
  ]);
});
