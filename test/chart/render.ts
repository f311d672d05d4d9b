// Renders the chart as `helm install` would send it to a cluster, without a cluster.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';

export const chart = join(import.meta.dirname, '../../helm/course-exchange');

export const helm = process.env.HELM ?? '';

/** Whatever an object of Kubernetes holds; tests look into it by path. */
// biome-ignore lint/suspicious/noExplicitAny: the schemas judge the form, tests read what they know is there
export type KubernetesObject = Record<string, any>;
export type Values = Readonly<Record<string, unknown>>;

export interface Rendering {
  /** Files of values relative to the chart, in the order of their weight. */
  readonly files?: readonly string[];
  /** Over those of the files. */
  readonly values?: Values;
  readonly release?: string;
  readonly namespace?: string;
  /** Folder of the chart, where it is not the repository's. */
  readonly of?: string;
  /** Address of an API server that `lookup` asks; without it there is none. */
  readonly asks?: string;
}

export interface HelmResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Calls Helm; never rejects for an exit code. `values` reach it by its standard input. */
export function callHelm(words: readonly string[], values?: Values): Promise<HelmResult> {
  return new Promise((resolve, reject) => {
    // A call lives for a tenth of a second: collecting its garbage would take a third of that.
    const env = { ...process.env, GOGC: 'off', KUBECONFIG: devNull };
    const options = { maxBuffer: 64 << 20, timeout: 60_000, env };
    const child = execFile(helm, words, options, (error, stdout, stderr) => {
      if (error && typeof error.code !== 'number') reject(error);
      else resolve({ code: Number(error?.code ?? 0), stdout, stderr });
    });
    // JSON is YAML of every version: to Helm's, a bare `yes` is true.
    child.stdin?.end(values === undefined ? '' : JSON.stringify(values));
  });
}

export function template(rendering: Rendering): Promise<HelmResult> {
  const { files = [], values, release = 'environment', namespace = 'exchange', of = chart, asks } = rendering;
  const words = ['template', release, of, '--namespace', namespace];
  if (asks !== undefined) words.push('--dry-run=server', `--kube-apiserver=${asks}`);
  return callHelm([...words, ...valueFlags(files, values)], values);
}

export function valueFlags(files: readonly string[], values: Values | undefined): readonly string[] {
  const named = files.map((file) => `--values=${join(chart, file)}`);
  return values === undefined ? named : [...named, '--values=-'];
}

/** All objects, hooks too. Rejects with Helm's sentence when the chart refuses. */
export async function objectsOf(rendering: Rendering): Promise<readonly KubernetesObject[]> {
  const { code, stdout, stderr } = await template(rendering);
  if (code !== 0) throw new Error(stderr);
  return parseObjects(stdout);
}

function parseObjects(text: string): readonly KubernetesObject[] {
  return parseAllDocuments(text).flatMap((document) => {
    if (document.errors.length > 0) throw document.errors[0];
    const object = document.toJS() as KubernetesObject | null;
    return object === null ? [] : [object];
  });
}

export function valuesOf(file: string): Values {
  return parse(readFileSync(join(chart, file), 'utf8')) as Values;
}

/** `below` with `above` laid over it, as Helm lays values. */
export function mergeValues(below: unknown, above: unknown): unknown {
  if (!isMap(below) || !isMap(above)) return above;
  const merged: Record<string, unknown> = { ...below };
  for (const [key, value] of Object.entries(above)) {
    merged[key] = key in below ? mergeValues(below[key], value) : value;
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
