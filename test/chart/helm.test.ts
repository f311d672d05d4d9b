// Whether there is a Helm: without one the suite is left out, and the run's last lines say so.
import { expect, test } from 'vitest';
import { withoutHelm } from '../support/helm-program.ts';
import { callHelm, helm } from './render.ts';

if (helm === '') test.skip(`not run: the chart. ${withoutHelm}`);
else
  test('Helm is there', async () => {
    expect((await callHelm(['version', '--short'])).stdout).toMatch(/^v[34]\./);
  });
