// One Helm that renders the chart with many sets of values: most of a call's time is Helm's start and the parsing of templates.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { chart, type KubernetesObject, mergeValues, template, type Values } from './render.ts';
import { shippedSchema } from './shipped-schema.ts';
import { filesOf, valueSets, valuesOfSet } from './value-sets.ts';

export interface Case {
  /** The set of values that `values` are laid over. */
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
{{- $refused := include "course-exchange.validate" $root }}
{{- $_ := set $all (base $path) (dict "objects" $objects "notes" $notes "refused" $refused) }}
{{- end }}
{{ dict "kind" "Cases" "rendered" $all | toJson }}
`;

const allows = new Ajv({ strict: false }).compile(shippedSchema);

/** In the order of the cases; `asks` is the address of an API server. Throws where the schema refuses values. */
export async function renderAll(cases: readonly Case[], asks?: string): Promise<readonly Rendered[]> {
  const copy = mkdtempSync(join(tmpdir(), 'chart-'));
  try {
    cpSync(chart, copy, { recursive: true });
    sayInsteadOfFailing(join(copy, 'templates/_validate.tpl'));
    writeFileSync(join(copy, 'templates/cases.yaml'), driver);
    mkdirSync(join(copy, 'cases'));
    const contexts = cases.map((one) => JSON.stringify(contextOf(one)));
    const distinct = [...new Set(contexts)];
    for (const [at, text] of distinct.entries()) writeFileSync(join(copy, `cases/${at}.json`), text);
    // Helm renders the copy's own objects too, for which any values do.
    const files = filesOf('test-minimal-values');
    const { code, stdout, stderr } = await template({ of: copy, files, asks, only: 'templates/cases.yaml' });
    if (code !== 0) throw new Error(stderr);
    const { rendered } = JSON.parse(stdout.slice(stdout.indexOf('{'))) as {
      rendered: Readonly<Record<string, Rendered>>;
    };
    return contexts.map((text) => rendered[`${distinct.indexOf(text)}.json`] as Rendered);
  } finally {
    rmSync(copy, { recursive: true });
  }
}

function contextOf({ on, values = {}, release = 'environment', namespace = 'exchange' }: Case): object {
  const merged = mergeValues(valuesOfSet(on), values);
  if (!allows(merged)) throw new Error(`${JSON.stringify(values)}: ${JSON.stringify(allows.errors)}`);
  return { values: merged, release: { Name: release, Namespace: namespace } };
}

/** One refusal would end the rendering of all. */
function sayInsteadOfFailing(file: string): void {
  const [before = '', after, more] = readFileSync(file, 'utf8').split('{{- fail (');
  if (after === undefined || more !== undefined) throw new Error(`${file} does not fail in one place`);
  writeFileSync(file, `${before}{{- print (${after}`);
}

export interface RenderedSet extends Rendered {
  readonly set: string;
}

/** Every set of values, as it stands. */
export async function renderSets(): Promise<readonly RenderedSet[]> {
  const rendered = await renderAll(valueSets.map((on) => ({ on })));
  return rendered.map((one, at) => ({ set: valueSets[at] ?? '', ...one }));
}
