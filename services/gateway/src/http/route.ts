// A public route. Its answer is a value; router.ts turns it into bytes.
import { Readable } from 'node:stream';
import type { Work } from './admission.ts';
import type { IncomingRequest } from './request.ts';

/**
 * Who reads the answers; decides headers and the form of errors. `resource`: a partner's backend with an access token.
 * `token`: the token endpoint. `public`: anybody. `page`: a person's browser.
 */
export type ResponseProfile = 'resource' | 'token' | 'public' | 'page';

export interface Route {
  readonly method: 'GET' | 'POST';
  /** Fastify's path pattern; also `http.route` in spans and logs. */
  readonly path: string;
  readonly profile: ResponseProfile;
  /** Answers HEAD as GET without a body (R31). */
  readonly head?: boolean;
  /** By its profile where it is absent. */
  readonly work?: Work;
  /** For the whole answer, in milliseconds; the gateway's budget where it is absent (R14). */
  readonly budgetMs?: number;
  /** A thrown `Failure` is answered by its code; anything else is a server_error. */
  readonly answer: (request: IncomingRequest) => Promise<Answer>;
  /** A page instead of JSON; undefined leaves the failure to errors.ts. */
  readonly renderError?: (code: string, request: IncomingRequest) => Answer | undefined;
}

/** As `Allow` names them (R31). */
export function methodsOf({ method, head }: Route): (Route['method'] | 'HEAD')[] {
  return head ? [method, 'HEAD'] : [method];
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Whole `Set-Cookie` values. */
  readonly cookies: readonly string[];
  /** UTF-8 where it is bytes, which `IncomingRequest.holdAnswer` has counted. */
  readonly body: string | readonly Uint8Array[];
  /** Of a failure (specification §7), for logs and metrics. */
  readonly code?: string;
}

export function jsonAnswer(status: number, body: Answer['body'], headers: Answer['headers'] = {}): Answer {
  return { status, headers: { 'content-type': 'application/json', ...headers }, cookies: [], body };
}

export function htmlAnswer(status: number, body: string, headers: Answer['headers'] = {}): Answer {
  return { status, headers: { 'content-type': 'text/html; charset=utf-8', ...headers }, cookies: [], body };
}

/** R4: 303. `location` is sent as it is; `error`: what it tells a partner, or ''. */
export function redirectAnswer(location: string, cookies: readonly string[] = [], error = ''): Answer {
  return { status: 303, headers: { location }, cookies, body: '', ...(error && { code: error }) };
}

export function bytesOf(body: Answer['body']): number {
  if (typeof body === 'string') return Buffer.byteLength(body);
  return body.reduce((sum, part) => sum + part.length, 0);
}

/** A long body leaves part by part, as the reader takes it. */
export function bodyOf(parts: readonly Uint8Array[]): Buffer | Readable {
  return parts.length > 1 ? Readable.from(parts, { objectMode: false }) : Buffer.concat(parts);
}
