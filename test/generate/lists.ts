// Lists that pages show of the repository itself: decisions, suites and scenarios of the rehearsal.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { duties } from '@course-exchange/testcontainers/rehearsal/duties';
import { scenarios } from '@course-exchange/testcontainers/rehearsal/scenarios';
import { root } from '../check/step.ts';
import { suites } from '../suites.ts';
import { code, names, type Part, table } from './page.ts';

const decisions = join(root, 'docs/decisions');

export const decisionsPart: Part = () =>
  readdirSync(decisions)
    .flatMap((file) => {
      const text = readFileSync(join(decisions, file), 'utf8');
      const headings = text.matchAll(/^##? (?:<a id="\d+"><\/a>)?(\d{4}) (.+)$/gm);
      return [...headings].map(([, number, title]) => `- [${number} ${title}](${file}#${number})`);
    })
    .sort()
    .join('\n');

export const suitesPart: Part = (before) =>
  names(before, ['suite', 'what it proves', 'needs'], Object.keys(suites));

export const scenariosPart: Part = () =>
  [...Map.groupBy(Object.entries(scenarios), ([, { duty }]) => duty)]
    .map(([duty, plays]) => {
      const { section, sentence } = duties[duty];
      const clause = `[${section}](specification.md#${section.split('.')[0]})`;
      const text = section.startsWith('R') ? `[${section}](rulings.md)` : clause;
      const rows = plays.map(([name, { play, expectation }]) => [code(name), play, expectation]);
      return `### ${duty}\n${sentence} (${text})\n\n${table(['scenario', 'play', 'kept'], rows)}`;
    })
    .join('\n\n');
