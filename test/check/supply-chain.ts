// What production is made of: every licence accepted, no known hole of weight.
import { knownHoles } from '../../deploy/images/known-holes.ts';
import { listLicences, unaccepted } from '../../deploy/images/licences.ts';
import type { StepResult } from './step.ts';

export async function checkLicences(): Promise<StepResult> {
  return said(unaccepted(await listLicences()));
}

export async function askForKnownHoles(): Promise<StepResult> {
  const holes = await knownHoles();
  if (holes === undefined)
    return { passed: true, output: '', notRun: 'the package registry answered no audit' };
  return said(holes);
}

function said(problems: readonly string[]): StepResult {
  return { passed: problems.length === 0, output: problems.join('\n') };
}
