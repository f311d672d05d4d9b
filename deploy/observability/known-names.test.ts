import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { allPanels } from './dashboards.ts';
import { eventRecordings } from './events.ts';
import { unknownNames } from './known-names.ts';
import { recordings } from './objectives.ts';
import { alerts } from './rules.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/runbook.md'), 'utf8');

test.each([
  ['up{job="course-exchange"} == 0', []],
  ['rate(course_exchange_tokens_issued_total{grant_type="code"}[5m])', []],
  ['rate(course_exchange_tokens_issued[5m])', ['course_exchange_tokens_issued is no metric']],
  [
    'course_exchange_tokens_issued_total{grant="code"}',
    ['course_exchange_tokens_issued_total has no label grant'],
  ],
  ['sum by (le) (course_exchange_tokens_issued_total)', ['no metric here has le']],
  ['sum by (client_id (up)', ['no PromQL at "(up)"']],
])('%s', (expr, mistakes) => {
  expect(unknownNames(expr).slice(0, 1)).toEqual(mistakes);
});

test('rules and dashboards ask for what the product has', () => {
  const rules = [...alerts, ...recordings, ...eventRecordings].map(({ expr }) => expr);
  const queries = allPanels.flatMap(([, asked]) => asked);
  const exprs = [...rules, ...queries.map((expr) => expr.replaceAll('$__rate_interval', '5m'))];
  expect(exprs.flatMap(unknownNames)).toEqual([]);
});

describe('the runbook', () => {
  /** What stands under the heading of each alert. */
  const sections = page
    .split(/^### /m)
    .slice(1)
    .map((text) => text.split(/\n([\s\S]*)/) as [alert: string, text: string]);

  test('has a section for each alert and no other', () => {
    const names = new Set(alerts.map(({ alert }) => alert));
    expect(sections.map(([alert]) => alert).sort()).toEqual([...names].sort());
  });

  test.each(sections)('%s begins with a question and a query that the product can answer', (_, text) => {
    expect(text).toMatch(/^[^\n]+\?\n\n```promql\n[\s\S]+?\n```\n\s*\S/);
    const queries = [...text.matchAll(/```promql\n([\s\S]+?)\n```/g)].map(([, found = '']) => found);
    expect(queries.flatMap(unknownNames)).toEqual([]);
  });

  test('names no metric in its sentences that is not there', () => {
    const named = [...page.matchAll(/`((?:course_exchange|http|rpc|db|nodejs)_\w+)`/g)].map(
      ([, name = '']) => name,
    );
    const known = (name: string) => [name, `${name}_count`].some((one) => unknownNames(one).length === 0);
    expect(named.filter((name) => !known(name))).toEqual([]);
  });
});
