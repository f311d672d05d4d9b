// Bad values are refused before anything is installed, with a sentence that says what to do.
import { expect, test } from 'vitest';
import { valuesWith } from './changes.ts';
import { documentedValues, valuesText } from './documented-values.ts';
import { refusals, schemaRefusals } from './refusals.ts';
import { helm, template, type Values } from './render.ts';
import { filesOf } from './value-sets.ts';

const concurrently = test.skipIf(helm === '').concurrent;
const render = (on: string, values: Values) => template({ files: filesOf(on), values });

concurrently.each(refusals)('$what is refused', async ({ on, values, says }) => {
  const { code, stderr } = await render(on, values);
  expect(stderr).toContain(says);
  expect(code).toBe(1);
});

concurrently.each(schemaRefusals)('$what is refused by the schema', async ({ on, values, says }) => {
  const { code, stderr } = await render(on, values);
  expect(stderr).toMatch(/values don't meet the specifications of the schema/);
  // Helm 3.18 and newer write /gateway/replicas.
  expect(stderr.replaceAll(/(?<=\w)\//g, '.')).toMatch(new RegExp(`[- '/]${says.replaceAll('.', '\\.')}\\b`));
  expect(code).toBe(1);
});

/** Every map of values.yaml whose keys the chart fixes. */
const fixedMaps = [
  [],
  ...documentedValues(valuesText).values.flatMap(({ path }) =>
    path.slice(0, -1).map((_, at) => path.slice(0, at + 1)),
  ),
].map((path) => path.join('.'));

concurrently.each([...new Set(fixedMaps)])('an unknown key under "%s" is refused', async (name) => {
  const path = name === '' ? [] : name.split('.');
  const { code, stderr } = await render('test-minimal-values', valuesWith([...path, 'unheardOf'], 1));
  expect(stderr).toMatch(/unheardOf/);
  expect(code).toBe(1);
});

concurrently("a host whose name only begins as an example's is accepted", async () => {
  const { code, stderr } = await render('production-hosts', { postgres: { host: 'pg.democracy.org' } });
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
