// HTTP as it is written: node:http with the path untouched, redirects not followed, every header kept.
import { Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** An answer, whole. */
export type Answer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON; throws when it is none. */
  readonly json: () => Record<string, unknown>;
};

export type Fields = Readonly<Record<string, string | undefined>> | readonly (readonly [string, string])[];

export type Sent = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Buffer;
  /** Sends `body` form-encoded with its content type. */
  readonly form?: Fields;
  /** The address to call from, to be another network for the throttle (loopback only). */
  readonly from?: string | undefined;
  readonly timeoutMs?: number;
};

const agents = {
  'http:': new HttpAgent({ keepAlive: true, maxSockets: 64 }),
  'https:': new HttpsAgent({ keepAlive: true, maxSockets: 64 }),
};

/** Where requests for an origin really go, for a deployment that is called from behind its proxy. */
const entrances = new Map<string, URL>();

/** Sends what is meant for `origin` to `address` from now on: `Host`, and under https the name, stay the origin's. */
export function sendThrough(origin: string, address: string): void {
  entrances.set(origin, new URL(address));
}

/** Sends one request. `url` is split, never normalised: what stands behind the authority is the path sent. */
export function send(url: string, sent: Sent = {}): Promise<Answer> {
  const [, scheme, authority, path] = /^(https?:)\/\/([^/?]+)(.*)$/s.exec(url) ?? [];
  if (!scheme || !authority) throw new Error(`Not an absolute address: ${url}`);
  const meant = new URL(`${scheme}//${authority}`);
  const entrance = entrances.get(`${scheme}//${authority}`);
  const { protocol, hostname, port } = entrance ?? meant;
  const body = sent.form === undefined ? sent.body : formEncoded(sent.form);
  const options = {
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port,
    path: path === '' ? '/' : path,
    method: sent.method ?? (body === undefined ? 'GET' : 'POST'),
    ...(protocol === 'https:' && isIP(meant.hostname) === 0 ? { servername: meant.hostname } : {}),
    agent: sent.from === undefined ? agents[protocol as 'http:' | 'https:'] : false,
    localAddress: sent.from,
    timeout: sent.timeoutMs ?? 20_000,
  };
  return new Promise((resolve, reject) => {
    const request = (protocol === 'https:' ? httpsRequest : httpRequest)(options as object, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve(answerOf(response.statusCode ?? 0, response.headers, Buffer.concat(chunks).toString('utf8'))),
      );
    });
    request.on('timeout', () => request.destroy(new Error(`No answer in time from ${url}`)));
    request.on('error', reject);
    // Not among the options, where Node refuses a header that comes twice.
    const host = entrance && { host: authority };
    request.setHeaders(new Map(Object.entries({ ...host, ...headersOf(sent, body) })));
    request.end(body);
  });
}

/**
 * Sends as `send` does, and again after Retry-After where nobody had time for an answer (R14), as on a busy machine. A request
 * that is refused four times is answered so.
 */
export async function sendUntilServed(url: string, sent: Sent = {}): Promise<Answer> {
  let answer = await send(url, sent);
  for (let more = 0; more < 3 && answer.status === 503; more += 1) {
    await sleep(1_000 * Number(answer.headers['retry-after'] ?? 1));
    answer = await send(url, sent);
  }
  return answer;
}

/** `application/x-www-form-urlencoded`; fields that are undefined are left out. */
export function formEncoded(fields: Fields): string {
  const pairs: readonly (readonly [string, string | undefined])[] = Array.isArray(fields)
    ? fields
    : Object.entries(fields);
  const given = pairs.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  return new URLSearchParams(given).toString();
}

function headersOf(
  sent: Sent,
  body: string | Buffer | undefined,
): Record<string, string | readonly string[]> {
  const form = sent.form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' };
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  return { ...form, ...length, ...sent.headers };
}

function answerOf(status: number, headers: IncomingHttpHeaders, text: string): Answer {
  return { status, headers, text, json: () => JSON.parse(text) as Record<string, unknown> };
}
