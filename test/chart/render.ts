// Calls Helm on the chart, once for many sets of values, and reads and merges these as Helm does.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { type Outcome, startProcess } from '../support/process.ts';
import { type Found, findProgram } from '../support/programs.ts';

export const chart = join(import.meta.dirname, '../../helm/course-exchange');

/** Whatever an object of Kubernetes holds; tests look into it by path. */
// biome-ignore lint/suspicious/noExplicitAny: the schemas check the form, tests read what they know is there
export type KubernetesObject = Record<string, any>;
export type Values = Readonly<Record<string, unknown>>;

let helm: Promise<Found> | undefined;

/**
 * `helm template` of a chart's folder, with files of the chart's values and `values` over them, which reach Helm by its
 * standard input.
 */
export async function template(
  of: string,
  files: readonly string[],
  values: Values = {},
  ...more: readonly string[]
): Promise<Outcome> {
  const flags = [...files.map((file) => `--values=${join(chart, file)}`), '--values=-'];
  const words = ['template', 'environment', of, '--namespace=exchange', ...flags, ...more];
  helm ??= findProgram('helm');
  const { command } = await helm;
  // A call is short: collecting its garbage as often as Go does would take a third of its time.
  const env = { ...process.env, GOGC: '400', KUBECONFIG: devNull };
  // JSON is YAML of every version: to Helm's, a bare `yes` is true.
  return startProcess(command, words, env, JSON.stringify(values)).ended;
}

export function valuesOf(file: string): Values {
  return parse(readFileSync(join(chart, file), 'utf8'), { merge: true }) as Values;
}

/** `below` with `above` laid over it, as Helm lays values: null takes a value away. */
function mergeValues(below: unknown, above: unknown): unknown {
  if (!isMap(below) || !isMap(above)) return above;
  const merged: Record<string, unknown> = { ...below };
  for (const [key, value] of Object.entries(above)) {
    merged[key] = key in below ? mergeValues(below[key], value) : value;
    if (merged[key] === null) delete merged[key];
  }
  return merged;
}

/** Values by their paths: `{ 'redis.mode': 'cluster' }`. */
export function valuesAt(paths: Values): Values {
  const each = Object.entries(paths).map(([path, value]) =>
    path.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), value),
  );
  return each.reduce(mergeValues, {}) as Values;
}

export function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The sets of values that every invariant is checked with: the two environments' files with what they leave to the operator,
 * and those under ci/. There, `…-values.yaml` stands alone; the name's first word says on which environment others lie.
 */
export const valueSets: readonly string[] = readdirSync(join(chart, 'ci'))
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => name.replace('.yaml', ''))
  .sort();

export function filesOf(set: string): readonly string[] {
  const own = `ci/${set}.yaml`;
  return set.endsWith('-values') ? [own] : [`values-${set.split('-')[0]}.yaml`, own];
}

const merged = new Map(
  valueSets.map((set) => [
    set,
    ['values.yaml', ...filesOf(set)].map(valuesOf).reduce<unknown>(mergeValues, {}) as Values,
  ]),
);

export const valuesOfSet = (set: string): Values => merged.get(set) ?? {};

export interface Case {
  readonly on: string;
  readonly values?: Values | undefined;
  readonly release?: string;
  readonly namespace?: string;
}

export interface Rendered {
  readonly objects: readonly KubernetesObject[];
  /** What Helm says after an installation. */
  readonly notes: string;
  /** The sentences of the chart's refusal; empty where it accepts the values. */
  readonly refused: string;
}

const manifests = readdirSync(join(chart, 'templates')).filter(
  (name) => name.endsWith('.yaml') && name !== 'validate.yaml',
);

/** Renders each of the files in cases/ by the chart's own templates: `include` knows a template by its path. */
const driver = `
{{- $all := dict }}
{{- range $path, $bytes := .Files.Glob "cases/*.json" }}
{{- $case := toString $bytes | fromJson }}
{{- $root := omit $ "Values" "Release" | merge (dict "Values" $case.values "Release" (merge $case.release $.Release)) }}
{{- $objects := list }}
{{- range list ${manifests.map((name) => JSON.stringify(name)).join(' ')} }}
{{- range regexSplit "(?m)^---$" (include (printf "%s/%s" $.Template.BasePath .) $root) -1 }}
{{- with fromYaml . }}{{ $objects = append $objects . }}{{ end }}
{{- end }}
{{- end }}
{{- $notes := include (printf "%s/NOTES.txt" $.Template.BasePath) $root }}
{{- $refused := include "course-exchange.mistakes" $root }}
{{- $_ := set $all (base $path) (dict "objects" $objects "notes" $notes "refused" $refused) }}
{{- end }}
{{ dict "kind" "Cases" "rendered" $all | toJson }}
`;

/** In the order of the cases, by one Helm. `asks` is the address of an API server that `lookup` asks. */
export async function renderAll(cases: readonly Case[], asks?: string): Promise<readonly Rendered[]> {
  const copy = mkdtempSync(join(tmpdir(), 'chart-'));
  try {
    cpSync(chart, copy, { recursive: true });
    writeFileSync(join(copy, 'templates/cases.yaml'), driver);
    // It would refuse the copy's own values for what one of the cases lacks.
    writeFileSync(join(copy, 'templates/validate.yaml'), '');
    mkdirSync(join(copy, 'cases'));
    for (const [at, { on, release = 'environment', namespace = 'exchange', ...one }] of cases.entries()) {
      const values = mergeValues(valuesOfSet(on), one.values ?? {});
      const context = { values, release: { Name: release, Namespace: namespace } };
      writeFileSync(join(copy, `cases/${at}.json`), JSON.stringify(context));
    }
    const server = asks === undefined ? [] : ['--dry-run=server', `--kube-apiserver=${asks}`];
    // Helm renders the copy's own objects too, for which any values do.
    const words = ['--show-only=templates/cases.yaml', ...server];
    const { exit, out, err } = await template(copy, filesOf('test-minimal-values'), {}, ...words);
    if (exit !== 0) throw new Error(err);
    const { rendered } = JSON.parse(out.slice(out.indexOf('{'))) as {
      rendered: Readonly<Record<string, Rendered>>;
    };
    return cases.map((_, at) => rendered[`${at}.json`] as Rendered);
  } finally {
    rmSync(copy, { recursive: true });
  }
}

export async function renderSets(): Promise<readonly (Rendered & { readonly set: string })[]> {
  const rendered = await renderAll(valueSets.map((on) => ({ on })));
  return rendered.map((one, at) => ({ set: valueSets[at] ?? '', ...one }));
}
