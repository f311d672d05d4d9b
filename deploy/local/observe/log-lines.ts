// The log lines of the services, read from their files as they are written.
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';

export type LogLine = NonNullable<ReturnType<typeof readLogLine>>;

export function readLogLine(text: string) {
  try {
    const { time: written, ...line } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const texts = Object.entries(line).map(([key, value]) => [key, String(value)] as const);
    const all: Readonly<Record<string, string>> = Object.fromEntries(texts);
    const {
      service = '',
      level = '',
      message = '',
      requestId = '',
      traceId = '',
      spanId = '',
      ...fields
    } = all;
    const time = Date.parse(String(written));
    if (Number.isNaN(time)) return undefined;
    return { service, time, level, message, requestId, traceId, spanId, fields };
  } catch {
    return undefined;
  }
}

/** Each call passes on the lines that `file` has gained since the last one. The file may not exist yet. */
export function followFile(file: string, take: (text: string) => void): () => void {
  let offset = 0;
  return () => {
    const added = readFrom(file, offset);
    const whole = added.lastIndexOf('\n') + 1;
    for (const text of added.toString('utf8', 0, whole).split('\n').filter(Boolean)) take(text);
    offset += whole;
  };
}

function readFrom(file: string, offset: number): Buffer {
  if (!existsSync(file)) return Buffer.alloc(0);
  const descriptor = openSync(file, 'r');
  try {
    const added = Buffer.alloc(Math.max(0, fstatSync(descriptor).size - offset));
    readSync(descriptor, added, 0, added.length, offset);
    return added;
  } finally {
    closeSync(descriptor);
  }
}
