// The two environments render as they did; a wanted change is kept by `npx --yes pnpm@12 chart:renew`.
import { expect, test } from 'vitest';
import { golden, renderedFor } from './golden.ts';
import { callHelm, chart, helm, valueWords } from './render.ts';
import { environments, filesOf, valueSets } from './value-sets.ts';

const withHelm = test.skipIf(helm === '');

withHelm.each(environments)('%s renders as in test/chart/golden', async (environment) => {
  expect(await renderedFor(environment)).toBe(golden(environment));
});

withHelm.each(valueSets)('helm lint --strict finds nothing with %s', async (set) => {
  const { code, stdout } = await callHelm([
    'lint',
    chart,
    '--strict',
    ...valueWords(filesOf(set), undefined),
  ]);
  expect(`${code} ${stdout}`).toMatch(/^0 [\s\S]*1 chart\(s\) linted, 0 chart\(s\) failed/);
});
