// Bytes on a socket: what no HTTP client would send, and what comes back until the other side is done.
import { connect } from 'node:net';

export type RawAnswer = {
  /** 0 when nothing that looks like HTTP came back. */
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  /** Whether the server ended the connection. */
  readonly closed: boolean;
};

/** Writes each of `parts`, `pauseMs` apart, and reads until the server closes or `waitMs` pass in silence. */
export function exchangeBytes(
  issuer: string,
  parts: readonly (string | Buffer)[],
  { pauseMs = 0, waitMs = 1_500 }: { readonly pauseMs?: number; readonly waitMs?: number } = {},
): Promise<RawAnswer> {
  const { hostname, port } = new URL(issuer);
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect(Number(port), hostname);
    const finish = (closed: boolean): void => {
      clearTimeout(silence);
      socket.destroy();
      resolve(parse(Buffer.concat(chunks).toString('latin1'), closed));
    };
    let silence = setTimeout(() => finish(false), waitMs + pauseMs * parts.length);
    socket.on('data', (chunk) => {
      chunks.push(Buffer.from(chunk));
      clearTimeout(silence);
      silence = setTimeout(() => finish(false), waitMs);
    });
    socket.on('close', () => finish(true));
    socket.on('error', () => finish(true));
    writeSlowly(parts, pauseMs, (part) => socket.write(part));
  });
}

function writeSlowly(
  parts: readonly (string | Buffer)[],
  pauseMs: number,
  write: (part: string | Buffer) => void,
): void {
  const [first, ...rest] = parts;
  if (first === undefined) return;
  write(first);
  if (rest.length > 0) setTimeout(() => writeSlowly(rest, pauseMs, write), pauseMs);
}

function parse(text: string, closed: boolean): RawAnswer {
  const [head = '', ...bodyParts] = text.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1] ?? 0),
    headers: new Map(headers),
    body: bodyParts.join('\r\n\r\n'),
    closed,
  };
}
