// The two environments render as they did; a wanted change is kept by `npx --yes pnpm@12 chart:renew`.
import { expect, test } from 'vitest';
import { golden, renderedFor } from './golden.ts';
import { callHelm, chart, helm, valueWords } from './render.ts';
import { environmentFiles, valueSets } from './value-sets.ts';

const withHelm = test.skipIf(helm === '');

withHelm.each(environmentFiles)('%s renders as in test/chart/golden', async (file) => {
  expect(await renderedFor(file)).toBe(golden(file));
});

withHelm.each(valueSets)('helm lint --strict finds nothing with %s', async (set) => {
  const { code, stdout } = await callHelm(['lint', chart, '--strict', ...valueWords([set], undefined)]);
  expect(`${code} ${stdout}`).toMatch(/^0 [\s\S]*1 chart\(s\) linted, 0 chart\(s\) failed/);
});
