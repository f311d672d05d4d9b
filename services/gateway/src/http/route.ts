// A public route. Its answer is a value, which router.ts sends.
import { Readable } from 'node:stream';
import type { Work } from './admission.ts';
import type { IncomingRequest } from './request.ts';

/**
 * The audience: decides headers and errors. `resource`: a partner with an access token. `token`: the token endpoint.
 * `public`: anyone. `page`: a browser.
 */
export type ResponseProfile = 'resource' | 'token' | 'public' | 'page';

export interface Route {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly profile: ResponseProfile;
  /** Answers HEAD like GET, without a body (R31). */
  readonly head?: boolean;
  /** Default: by profile. */
  readonly work?: Work;
  /** Time for the answer in milliseconds; default: the gateway's budget (R14.2). */
  readonly budgetMs?: number;
  /** A thrown `Failure` is answered by its code, anything else by server_error. */
  readonly answer: (request: IncomingRequest) => Promise<Answer>;
  /** A page instead of JSON; undefined leaves the failure to errors.ts. */
  readonly renderError?: (code: string, request: IncomingRequest) => Answer | undefined;
}

/** The methods in `Allow` (R31). */
export function methodsOf({ method, head }: Route): (Route['method'] | 'HEAD')[] {
  return head ? [method, 'HEAD'] : [method];
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Whole `Set-Cookie` values. */
  readonly cookies: readonly string[];
  /** Bytes are UTF-8 and counted by `IncomingRequest.holdAnswer`. */
  readonly body: string | readonly Uint8Array[];
  /** The failure's code (specification §7), for logs and metrics. */
  readonly code?: string;
}

export function jsonAnswer(status: number, body: Answer['body'], headers: Answer['headers'] = {}): Answer {
  return { status, headers: { 'content-type': 'application/json', ...headers }, cookies: [], body };
}

export function htmlAnswer(status: number, body: string, headers: Answer['headers'] = {}): Answer {
  return { status, headers: { 'content-type': 'text/html; charset=utf-8', ...headers }, cookies: [], body };
}

/** 303 (R4). `location` is sent unchanged; `error`: its code, or ''. */
export function redirectAnswer(location: string, cookies: readonly string[] = [], error = ''): Answer {
  return { status: 303, headers: { location }, cookies, body: '', ...(error && { code: error }) };
}

export function bytesOf(body: Answer['body']): number {
  if (typeof body === 'string') return Buffer.byteLength(body);
  return body.reduce((sum, part) => sum + part.length, 0);
}

/** Part by part, as the client reads it. */
export function bodyOf(parts: readonly Uint8Array[]): Buffer | Readable {
  return parts.length > 1 ? Readable.from(parts, { objectMode: false }) : Buffer.concat(parts);
}
