// How far an import of users has come, in a file beside the imported one: a line for each batch that the service has
// answered. Whatever ends the import, the next one goes on after the last whole line.
import { closeSync, fsyncSync, ftruncateSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';

export interface Rejection {
  readonly line: number;
  readonly reason: string;
}

export interface Batch {
  /** The last line of the file that the batch has seen. */
  readonly through: number;
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly rejected: readonly Rejection[];
}

export interface ImportJournal {
  /** Batches of the import that this one goes on with. */
  readonly done: readonly Batch[];
  /** Durable when it returns. */
  readonly add: (batch: Batch) => void;
  readonly close: () => void;
  /** The import is finished. */
  readonly remove: () => void;
}

/** `subject` names content and installation: a journal of another subject is begun anew. */
export function openImportJournal(path: string, subject: string): ImportJournal {
  const kept = keptLines(path, subject);
  const file = openSync(path, kept === undefined ? 'w' : 'r+', 0o600);
  const head = `${JSON.stringify({ subject })}\n`;
  const written = kept?.text ?? head;
  if (kept === undefined) writeSync(file, head);
  let end = Buffer.byteLength(written);
  ftruncateSync(file, end);
  return {
    done: kept?.batches ?? [],
    add: (batch) => {
      end += writeSync(file, `${JSON.stringify(batch)}\n`, end);
      fsyncSync(file);
    },
    close: () => closeSync(file),
    remove: () => rmSync(path, { force: true }),
  };
}

/** Undefined when there is no journal of this subject. A line that a crash cut off is left out. */
function keptLines(path: string, subject: string) {
  const lines = contentOf(path).split('\n').slice(0, -1);
  const [head, ...batches] = lines;
  if (head !== JSON.stringify({ subject })) return undefined;
  return {
    text: lines.map((line) => `${line}\n`).join(''),
    batches: batches.map((line) => JSON.parse(line) as Batch),
  };
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
