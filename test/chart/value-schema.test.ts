// values.yaml documents every value, with a type that becomes the schema.
import { expect, test } from 'vitest';
import { documentedValues, valueSchema, valuesText } from './value-schema.ts';

test('every value has a comment that begins with `# --`', () => {
  const { values, undocumented } = documentedValues(valuesText);
  expect(undocumented).toEqual([]);
  expect(values.length).toBeGreaterThan(100);
});

test('a value is found with its comment, its type, its default and its remark', () => {
  const text = `
# Of the whole chart.

# -- (1..5) One
# and a half.
one: 1
# Two things.
two:
  # -- First.
  first: { a: 1 }
  second: 2
`;
  expect(documentedValues(text)).toEqual({
    values: [
      { path: ['one'], type: '1..5', description: 'One and a half.', defaultValue: 1 },
      { path: ['two', 'first'], type: undefined, description: 'First.', defaultValue: { a: 1 } },
    ],
    remarks: new Map([['two', 'Two things.']]),
    undocumented: ['two.second'],
  });
});

const components = ['gateway', 'identity', 'designCatalog', 'demoPartner', 'migrations', 'tests']
  .map((component) => `${component}:\n  # -- Text.\n  own: ""\n`)
  .join('');
const schemaWith = (text: string) => valueSchema(`${components}${text}`) as { properties: object };

test.each([
  ['# -- (1..5) A number.\nvalue: 1', { type: 'integer', minimum: 1, maximum: 5 }],
  ['# -- (0..) A number.\nvalue: 1', { type: 'integer', minimum: 0 }],
  ['# -- (one|two) A word.\nvalue: ""', { enum: ['one', 'two', ''] }],
  ['# -- (port) A port.\nvalue: 1', { $ref: '#/definitions/port' }],
  ['# -- A truth.\nvalue: false', { type: 'boolean' }],
  [
    'value:\n  # -- A text.\n  below: ""',
    { type: 'object', additionalProperties: false, properties: { below: { type: 'string' } } },
  ],
])('%s becomes a schema', (text, value) => {
  expect(schemaWith(text).properties).toMatchObject({ value });
});

test('what stands under `defaults` may stand under the components that have a use for it', () => {
  const { properties } = schemaWith(
    'defaults:\n  # -- (0..) Seconds.\n  preStopSeconds: 1\n  # -- (0..) Seconds.\n  minReadySeconds: 1\n',
  );
  const allowed = Object.entries(properties).map(([name, part]) => [
    name,
    Object.keys(part.properties ?? {}),
  ]);
  expect(Object.fromEntries(allowed)).toMatchObject({
    gateway: ['own', 'preStopSeconds', 'minReadySeconds'],
    demoPartner: ['own', 'preStopSeconds'],
    tests: ['own'],
  });
});

test.each([
  ['# -- (color) A colour.\nvalue: red', 'values.yaml says that value is "color"'],
  ['# -- A number.\nvalue: 1', 'values.yaml gives no type of value'],
  ['value: 1', 'values.yaml does not document value'],
])('%s is a mistake', (text, mistake) => {
  expect(() => schemaWith(text)).toThrow(mistake);
});
