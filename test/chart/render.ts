// Renders the chart as `helm install` would send it to a cluster, without a cluster.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';

export const chart = join(import.meta.dirname, '../../helm/course-exchange');

const helm = process.env.HELM ?? '';

/** Whatever an object of Kubernetes holds; tests look into it by path. */
// biome-ignore lint/suspicious/noExplicitAny: the schemas judge the form, tests read what they know is there
export type KubernetesObject = Record<string, any>;
export type Values = Readonly<Record<string, unknown>>;

export interface Rendering {
  /** Files of values relative to the chart, in the order of their weight. */
  readonly files?: readonly string[];
  /** Over those of the files. */
  readonly values?: Values;
  /** Folder of the chart, where it is not the repository's. */
  readonly of?: string;
  /** Address of an API server that `lookup` asks; without it there is none. */
  readonly asks?: string | undefined;
  /** The one template that is printed. */
  readonly only?: string;
}

export interface HelmResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Calls Helm; never rejects for an exit code. `values` reach it by its standard input. */
export function callHelm(words: readonly string[], values?: Values): Promise<HelmResult> {
  if (helm === '') throw new Error('There is no Helm: the run has said at its beginning what to install.');
  return new Promise((resolve, reject) => {
    // A call is short: collecting its garbage as often as Go does would take a third of its time.
    const env = { ...process.env, GOGC: '400', KUBECONFIG: devNull };
    const options = { maxBuffer: 256 << 20, timeout: 100_000, env };
    const child = execFile(helm, words, options, (error, stdout, stderr) => {
      if (error && typeof error.code !== 'number') reject(error);
      else resolve({ code: Number(error?.code ?? 0), stdout, stderr });
    });
    // JSON is YAML of every version: to Helm's, a bare `yes` is true.
    child.stdin?.end(values === undefined ? '' : JSON.stringify(values));
  });
}

export function template({ files = [], values, of = chart, asks, only }: Rendering): Promise<HelmResult> {
  const words = ['template', 'environment', of, '--namespace', 'exchange', ...files.map(valuesFlag)];
  if (asks !== undefined) words.push('--dry-run=server', `--kube-apiserver=${asks}`);
  if (only !== undefined) words.push(`--show-only=${only}`);
  return callHelm(values === undefined ? words : [...words, '--values=-'], values);
}

export function valuesFlag(file: string): string {
  return `--values=${join(chart, file)}`;
}

/** All objects, hooks too. Rejects with Helm's sentence when the chart refuses, and for a key that comes twice. */
export async function objectsOf(rendering: Rendering): Promise<readonly KubernetesObject[]> {
  const { code, stdout, stderr } = await template(rendering);
  if (code !== 0) throw new Error(stderr);
  return parseAllDocuments(stdout).flatMap((document) => {
    if (document.errors.length > 0) throw document.errors[0];
    const object = document.toJS() as KubernetesObject | null;
    return object === null ? [] : [object];
  });
}

export function valuesOf(file: string): Values {
  return parse(readFileSync(join(chart, file), 'utf8'), { merge: true }) as Values;
}

/** `below` with `above` laid over it, as Helm lays values: null takes a value away. */
export function mergeValues(below: unknown, above: unknown): unknown {
  if (!isMap(below) || !isMap(above)) return above;
  const merged: Record<string, unknown> = { ...below };
  for (const [key, value] of Object.entries(above)) {
    merged[key] = key in below ? mergeValues(below[key], value) : value;
    if (merged[key] === null) delete merged[key];
  }
  return merged;
}

/** Values with `value` at `path` and nothing else. */
export function valuesWith(path: readonly string[], value: unknown): Values {
  return path.reduceRight((inner: unknown, key) => ({ [key]: inner }), value) as Values;
}

export function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
