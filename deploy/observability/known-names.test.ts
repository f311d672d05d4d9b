import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { dashboards } from './dashboards.ts';
import { unknownNames } from './known-names.ts';
import { alerts, rulesFiles } from './rules.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/runbook.md'), 'utf8');

/** What stands under the heading of each alert. */
const sections = new Map(
  page
    .split(/^### /m)
    .slice(1)
    .map((text) => [text.slice(0, text.indexOf('\n')), text.slice(text.indexOf('\n') + 1)]),
);

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert?: string; readonly expr: string }[];
  }[];
}

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

describe.each(Object.keys(rulesFiles))('%s', (path) => {
  test('names what the product has', () => {
    const text = readFileSync(join(root, path), 'utf8');
    const { groups } = parse(text) as Rules;
    const rules = groups.flatMap((group) => group.rules);
    expect(rules.flatMap(({ expr }) => unknownNames(expr))).toEqual([]);
    expect(rules.length).toBeGreaterThan(0);
  });
});

interface Board {
  readonly panels: readonly {
    readonly description?: string;
    readonly targets?: readonly { readonly expr: string }[];
  }[];
  readonly templating: { readonly list: readonly { readonly query: string }[] };
}

describe.each(Object.keys(dashboards))('%s', (path) => {
  const text = readFileSync(join(root, path), 'utf8');
  const { panels, templating } = JSON.parse(text) as Board;

  test('asks for what the product has', () => {
    const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    expect(queries.flatMap((expr) => unknownNames(expr.replaceAll('$__rate_interval', '5m')))).toEqual([]);
    expect(queries.length).toBeGreaterThan(8);
    for (const { description, targets } of panels) if (targets) expect(description).toBeTruthy();
  });

  test('offers labels to choose by that are there', () => {
    const offered = templating.list.flatMap(({ query }) => [
      ...query.matchAll(/^label_values\((.+), (\w+)\)$/g),
    ]);
    expect(offered.length).toBeGreaterThan(1);
    expect(offered.flatMap(([, of, label]) => unknownNames(`sum by (${label}) (${of})`))).toEqual([]);
  });
});

describe('the runbook', () => {
  test('has a section for each alert and no other', () => {
    expect([...sections.keys()].sort()).toEqual([...new Set(alerts.map(({ alert }) => alert))].sort());
  });

  test.each([...sections])('%s begins with a question and a query that the product can answer', (_, text) => {
    const [, question = '', query = '', then = ''] =
      /^([^\n]+)\n\n```promql\n([\s\S]+?)\n```\n([\s\S]*)/.exec(text) ?? [];
    expect(question).toMatch(/\?$/);
    expect(query).not.toBe('');
    expect(then.trim()).not.toBe('');
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
