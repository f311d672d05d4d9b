// Lists that pages show of the repository itself: decisions and suites.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../check/step.ts';
import { suites } from '../suites.ts';
import { names, type Part } from './page.ts';

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
