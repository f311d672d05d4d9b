// The scenarios of docs/rehearsals.md: duty, play and expectation of each.
import { duties } from '@course-exchange/testcontainers/rehearsal/duties';
import { scenarios } from '@course-exchange/testcontainers/rehearsal/scenarios';
import type { Part } from './page.ts';

export const scenariosPart: Part = () =>
  Object.entries(scenarios)
    .map(([name, { duty, play, expectation }]) => {
      const { section, sentence } = duties[duty];
      const clause = `[${section}](specification.md#${section.split('.')[0]})`;
      const text = section.startsWith('R') ? `[${section}](rulings.md)` : clause;
      return `### ${name}\n- **Duty** \`${duty}\` (${text}): ${sentence}\n- **Play**: ${play}\n- **Kept**: ${expectation}\n`;
    })
    .join('\n');
