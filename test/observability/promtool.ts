// Asks promtool what the chart's rules make of series that Prometheus would have read, and how those are written.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Component, series } from '@course-exchange/observability/promql';
import { rulesFiles } from '@course-exchange/observability/rules';
import { runtimeMetrics } from '@course-exchange/runtime/process/runtime-metrics';
import { parse, stringify } from 'yaml';
import { root } from '../check/step.ts';

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

const promtool = process.env.PROMTOOL ?? 'promtool';
const files = Object.keys(rulesFiles).map((path) => join(root, path));
/** As the chart brings them. */
export const rules = files
  .flatMap((file) => (parse(readFileSync(file, 'utf8')) as { groups: { rules: Rule[] }[] }).groups)
  .flatMap((group) => group.rules);

/** The series of one process, or of another installation. */
export const of = (instance: string, text: string) => text.replace(/\}$/, `,instance="${instance}"}`);
export const at = (namespace: string, text: string) => text.replace(/\}$/, `,namespace="${namespace}"}`);
export const alive = (component: Component, instance: string = component) =>
  of(instance, series(runtimeMetrics.eventLoopUtilization, {}, { component }));

/** Throws where a file of rules is malformed. */
export function checkRules(): string {
  return execFileSync(promtool, ['check', 'rules', ...files], { encoding: 'utf8' });
}

/** Runs `work` with the paths of files that hold these texts. */
export function withFiles<T>(texts: readonly string[], work: (paths: readonly string[]) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'promtool-'));
  const paths = texts.map((_, index) => join(folder, `${index}.yaml`));
  try {
    for (const [index, path] of paths.entries()) writeFileSync(path, `${texts[index]}`);
    return work(paths);
  } finally {
    rmSync(folder, { recursive: true });
  }
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
  return withFiles([stringify({ groups: [{ name: 'rules', rules: rules.filter(matter) }] })], ([rule_file]) =>
    withFiles([stringify({ rule_files: [rule_file], evaluation_interval, tests })], ([file = '']) => {
      const { status, stdout, stderr } = spawnSync(promtool, ['test', 'rules', file], { encoding: 'utf8' });
      return status === 0 ? '' : stdout + stderr;
    }),
  );
}
