// One Helm that renders the chart with many sets of values: most of a call's time is Helm's start and the parsing of templates.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as helm from './render.ts';

export interface Case {
  readonly on: string;
  readonly values?: helm.Values | undefined;
  readonly release?: string;
  readonly namespace?: string;
}

export interface Rendered {
  readonly objects: readonly helm.KubernetesObject[];
  /** What Helm says after an installation. */
  readonly notes: string;
  /** The sentences of the chart's refusal; empty where it accepts the values. */
  readonly refused: string;
}

const manifests = readdirSync(join(helm.chart, 'templates')).filter(
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

/** In the order of the cases; `asks` is the address of an API server that `lookup` asks. */
export async function renderAll(cases: readonly Case[], asks?: string): Promise<readonly Rendered[]> {
  const copy = mkdtempSync(join(tmpdir(), 'chart-'));
  try {
    cpSync(helm.chart, copy, { recursive: true });
    writeFileSync(join(copy, 'templates/cases.yaml'), driver);
    // It would refuse the copy's own values for what one of the cases lacks.
    writeFileSync(join(copy, 'templates/validate.yaml'), '');
    mkdirSync(join(copy, 'cases'));
    for (const [at, { on, release = 'environment', namespace = 'exchange', ...one }] of cases.entries()) {
      const values = helm.mergeValues(helm.valuesOfSet(on), one.values ?? {});
      const context = { values, release: { Name: release, Namespace: namespace } };
      writeFileSync(join(copy, `cases/${at}.json`), JSON.stringify(context));
    }
    const server = asks === undefined ? [] : ['--dry-run=server', `--kube-apiserver=${asks}`];
    // Helm renders the copy's own objects too, for which any values do.
    const words = ['--show-only=templates/cases.yaml', ...server];
    const { exit, out, err } = await helm.template(copy, helm.filesOf('test-minimal-values'), {}, ...words);
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
  const rendered = await renderAll(helm.valueSets.map((on) => ({ on })));
  return rendered.map((one, at) => ({ set: helm.valueSets[at] ?? '', ...one }));
}
