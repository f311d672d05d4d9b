// The log lines of the services, read from their files as they are written.
import { closeSync, openSync, readSync, statSync } from 'node:fs';

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

const maxBytes = 1 << 20;

/** Each call hands on the lines that `file` has gained since the last one. The file may not be there yet. */
export function followFile(file: string, take: (text: string) => void): () => void {
  let offset = 0;
  return () => {
    for (let read = readFrom(file, offset); read.length > 0; read = readFrom(file, offset)) {
      const whole = read.lastIndexOf('\n') + 1;
      // A line without end is none of ours; one that is not yet whole is read again.
      if (whole === 0 && read.length < maxBytes) return;
      for (const text of read.toString('utf8', 0, whole).split('\n').filter(Boolean)) take(text);
      offset += whole || read.length;
    }
  };
}

function readFrom(file: string, offset: number): Buffer {
  const { size } = statSync(file, { throwIfNoEntry: false }) ?? { size: 0 };
  if (size <= offset) return Buffer.alloc(0);
  const descriptor = openSync(file, 'r');
  try {
    const chunk = Buffer.alloc(Math.min(maxBytes, size - offset));
    return chunk.subarray(0, readSync(descriptor, chunk, 0, chunk.length, offset));
  } finally {
    closeSync(descriptor);
  }
}
