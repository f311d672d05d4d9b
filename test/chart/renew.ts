// Writes anew what the suite `chart` compares: the values in the chart's README, and the golden renders.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { findHelm, withoutHelm } from '../support/helm-program.ts';

const helm = await findHelm();
if (helm === undefined) throw new Error(withoutHelm);
process.env.HELM = helm;
const [{ goldenPath, renderedFor }, { readme, readmePath }, { environments }] = await Promise.all([
  import('./golden.ts'),
  import('./readme.ts'),
  import('./value-sets.ts'),
]);
writeFileSync(readmePath, readme());
for (const environment of environments) {
  mkdirSync(dirname(goldenPath(environment)), { recursive: true });
  writeFileSync(goldenPath(environment), await renderedFor(environment));
}
