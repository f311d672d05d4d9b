// HTTP as it is written: node:http with the path untouched, redirects not followed, every header kept.
import { once } from 'node:events';
import * as http from 'node:http';
import * as https from 'node:https';
import { isIP } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

/** `json` throws when the body is none. */
export type Answer = Awaited<ReturnType<typeof send>>;

export type Fields = Readonly<Record<string, string | undefined>> | readonly (readonly [string, string])[];

export type Sent = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Buffer;
  /** Sends `body` form-encoded with its content type. */
  readonly form?: Fields;
  /** The address to call from, to be another network for the throttle (loopback only). */
  readonly from?: string | undefined;
  /** Its connections are used. */
  readonly agent?: http.Agent;
  readonly timeoutMs?: number;
};

const kept = { keepAlive: true, maxSockets: 64 };
const plain = { request: http.request, agent: new http.Agent(kept) };
const secure = { request: https.request, agent: new https.Agent(kept) };

/** The address that requests for an origin really go to, for a deployment that is called from behind its proxy. */
const entrances = new Map<string, URL>();

/** Sends what is meant for `origin` to `address` from now on: `Host`, and under https the name, stay the origin's. */
export function sendThrough(origin: string, address: string): void {
  entrances.set(origin, new URL(address));
}

/** Sends one request. `url` is split, never normalised: what stands behind the authority is the path sent. */
export async function send(url: string, sent: Sent = {}) {
  const [, origin = '', authority = '', path] = /^(https?:\/\/([^/?]+))(.*)$/s.exec(url) ?? [];
  const meant = new URL(origin);
  const entrance = entrances.get(origin);
  const { protocol, hostname, port } = entrance ?? meant;
  const { request: ask, agent } = { 'http:': plain, 'https:': secure }[protocol] ?? plain;
  const body = sent.form === undefined ? sent.body : formEncoded(sent.form);
  const request = ask({
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port,
    path: path === '' ? '/' : path,
    method: sent.method ?? (body === undefined ? 'GET' : 'POST'),
    ...(isIP(meant.hostname) === 0 && { servername: meant.hostname }),
    agent: sent.agent ?? (sent.from === undefined && agent),
    localAddress: sent.from,
    signal: AbortSignal.timeout(sent.timeoutMs ?? 20_000),
  } as https.RequestOptions);
  const headers = {
    ...(entrance && { host: authority }),
    ...(sent.form && { 'content-type': 'application/x-www-form-urlencoded' }),
    ...(body !== undefined && { 'content-length': `${Buffer.byteLength(body)}` }),
    ...sent.headers,
  };
  // Not among the options, where Node refuses a header that comes twice.
  request.setHeaders(new Map(Object.entries(headers)));
  // An answer that breaks off says so itself.
  request.on('error', () => {});
  request.end(body);
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  const whole = await text(response);
  const json = (): Record<string, unknown> => JSON.parse(whole);
  return { status: response.statusCode ?? 0, headers: response.headers, text: whole, json };
}

/** What Retry-After names, 0 where it names nothing. */
export const retryAfterMs = ({ headers }: Pick<Answer, 'headers'>) =>
  1_000 * Number(headers['retry-after'] ?? 0);

/**
 * Sends as `send` does, and again after Retry-After if the answer was 503 (R14.7), as on a busy machine. A request
 * that is refused four times is answered so.
 */
export async function sendUntilServed(url: string, sent: Sent = {}): Promise<Answer> {
  let answer = await send(url, sent);
  for (let more = 0; more < 3 && answer.status === 503; more += 1) {
    await sleep(retryAfterMs(answer) || 1_000);
    answer = await send(url, sent);
  }
  return answer;
}

/** `application/x-www-form-urlencoded`; fields that are undefined are left out. */
export function formEncoded(fields: Fields): string {
  const pairs: readonly [string, string][] = Array.isArray(fields) ? fields : Object.entries(fields);
  return new URLSearchParams(pairs.filter(([, value]) => value !== undefined)).toString();
}
