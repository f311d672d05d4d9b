// A YAML file read strictly: every mistake is a sentence with its line, all of them together.
import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import { Problem } from '../frame/problem.ts';

type Path = readonly (string | number)[];

/** Reads values out of one file and gathers what is wrong with it. */
export interface YamlFile {
  /** Keys of the map at `path`; complains about keys other than `known`. */
  readonly keys: (path: Path, known: readonly string[]) => readonly string[];
  /** Length of the list at `path`; 0 when absent. */
  readonly length: (path: Path) => number;
  readonly text: (path: Path) => string | undefined;
  readonly flag: (path: Path) => boolean | undefined;
  readonly complain: (path: Path, sentence: string) => void;
  readonly has: (path: Path) => boolean;
  /** Throws one Problem that lists every mistake. */
  readonly finish: () => void;
}

export function readYaml(name: string, content: string): YamlFile {
  const lines = new LineCounter();
  const document = parseDocument(content, { lineCounter: lines, prettyErrors: false });
  const mistakes = document.errors.map(
    ({ pos, message }) => `${name}:${lines.linePos(pos[0]).line}: ${message}.`,
  );
  const nodeAt = (path: Path): unknown => document.getIn(path, true);
  const complain = (path: Path, sentence: string): void => {
    const node = nodeAt(path) ?? nodeAt(path.slice(0, -1));
    const start = isNode(node) ? (node.range?.[0] ?? 0) : 0;
    mistakes.push(`${name}:${lines.linePos(start).line}: ${sentence}`);
  };
  const finish = (): void => {
    if (mistakes.length === 0) return;
    throw new Problem(`${name} cannot be used.`, { exit: 'usage', mistakes });
  };
  if (mistakes.length > 0) finish();
  const scalar = (path: Path): unknown => {
    const node = nodeAt(path);
    return isScalar(node) ? node.value : node;
  };
  return {
    keys: (path, known) => {
      const node = path.length === 0 ? document.contents : nodeAt(path);
      if (!isMap(node)) {
        complain(path, `${label(path)} must be a map of ${known.join(', ')}.`);
        return [];
      }
      const found = node.items.map(({ key }) => String(isScalar(key) ? key.value : key));
      for (const key of found.filter((one) => !known.includes(one))) {
        complain(
          [...path, key],
          `${label([...path, key])} is not known here; known are ${known.join(', ')}.`,
        );
      }
      return found;
    },
    length: (path) => {
      const node = nodeAt(path);
      if (isSeq(node)) return node.items.length;
      if (scalar(path) !== undefined && scalar(path) !== null)
        complain(path, `${label(path)} must be a list.`);
      return 0;
    },
    text: (path) => {
      const value = scalar(path);
      if (value === undefined || value === null) return undefined;
      if (typeof value === 'string') return value.trim();
      complain(path, `${label(path)} must be text; put it in quotes.`);
      return undefined;
    },
    flag: (path) => {
      const value = scalar(path);
      if (value === undefined || value === null || typeof value === 'boolean') return value ?? undefined;
      complain(path, `${label(path)} must be true or false.`);
      return undefined;
    },
    complain,
    has: (path) => nodeAt(path) !== undefined,
    finish,
  };
}

/** `clients[1].scopes`; the whole file where the path is empty. */
function label(path: Path): string {
  const words = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  return words.replace(/^\./, '') || 'The file';
}
