// Asks promtool what the chart's rules make of series that Prometheus would have read, and how those are written.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allPanels } from '@course-exchange/observability/generate';
import { type Component, series } from '@course-exchange/observability/promql';
import { rulesFiles } from '@course-exchange/observability/rules';
import { runtimeMetrics } from '@course-exchange/runtime/process/runtime-metrics';
import { parse } from 'yaml';
import { root } from '../check/step.ts';
import { findProgram } from '../support/programs.ts';

/** Values of series, one a minute, in promtool's notation. */
export type Input = Readonly<Record<string, string>>;

export interface Question {
  readonly input: Input;
  readonly minutes: number;
  /** The values of expressions at that minute; undefined: nothing. */
  readonly answers: readonly (readonly [expr: string, is: number | undefined])[];
}

export interface Rule {
  readonly expr: string;
  readonly alert?: string;
  readonly record?: string;
  readonly labels?: { readonly objective?: string };
}

const promtool = await findProgram('promtool');
const files = Object.keys(rulesFiles).map((name) => join(root, 'helm/course-exchange/rules', name));
/** As the chart brings them. */
export const rules = files
  .flatMap((file) => (parse(readFileSync(file, 'utf8')) as { groups: { rules: Rule[] }[] }).groups)
  .flatMap((group) => group.rules);

const chosen = { job: '.+', namespace: '.*', client_id: '.+', __rate_interval: '10m' };
/** Those of the dashboards, with the queries that they ask where everything is chosen. */
export const panels = allPanels.map(([title, queries]) => ({
  title,
  queries: queries.map((expr) =>
    Object.entries(chosen).reduce((text, [name, value]) => text.replaceAll(`$${name}`, value), expr),
  ),
}));

export const runbook = readFileSync(join(root, 'docs/on-call.md'), 'utf8');

/** The series of one process, or of another installation. */
export const of = (instance: string, text: string) => text.replace(/\}$/, `,instance="${instance}"}`);
export const at = (namespace: string, text: string) => text.replace(/\}$/, `,namespace="${namespace}"}`);
export const alive = (component: Component, instance: string = component) =>
  of(instance, series(runtimeMetrics.eventLoopUtilization, {}, { component }));

/** Throws where a file of rules is malformed. */
export function checkRules(): string {
  return execFileSync(promtool, ['check', 'rules', ...files], { encoding: 'utf8' });
}

/**
 * Empty where Prometheus answers as it is said; else how it differs. All rules at every minute would take ten times as
 * long as those that `matter`.
 */
export function mistakesOf(
  questions: readonly Question[],
  matter: (rule: Rule) => boolean,
  everyMinutes = 1,
): string {
  const evaluation_interval = `${everyMinutes}m`;
  const tests = questions.map(({ input, minutes, answers }) => ({
    interval: '1m',
    input_series: Object.entries(input).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: answers.map(([expr, is]) => ({
      expr,
      eval_time: `${minutes}m`,
      exp_samples: is === undefined ? [] : [{ labels: '{}', value: is }],
    })),
  }));
  const groups = [{ name: 'rules', rules: rules.filter(matter) }];
  const asked = { rule_files: ['rules.yaml'], evaluation_interval, tests };
  const cwd = mkdtempSync(join(tmpdir(), 'promtool-'));
  writeFileSync(join(cwd, 'rules.yaml'), JSON.stringify({ groups }));
  writeFileSync(join(cwd, 'tests.yaml'), JSON.stringify(asked));
  const words = ['test', 'rules', 'tests.yaml'];
  const { status, stdout, stderr } = spawnSync(promtool, words, { cwd, encoding: 'utf8' });
  rmSync(cwd, { recursive: true });
  return status === 0 ? '' : stdout + stderr;
}
