// A request as the proxy sees it, and what became of it.

const paths = {
  'key set': /^\/\.well-known\/jwks\.json$/,
  browser: /^\/(authorize|login|account|consent|cancel)$/,
  'user-info': /^\/userinfo$/,
  events: /^\/api\/events$/,
  designs: /^\/api\/events\/[^/]+\/designs$/,
};
type Path = keyof typeof paths;
export type Endpoint = Path | 'exchange' | 'refresh' | 'token' | 'other';

export interface Answer {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  /** How much of it the client gets; default all. */
  readonly delivered?: 'none' | 'half';
}

/** What the client learned from an answer; `nothing` also when it could not know what the server had done. */
export type Outcome =
  | {
      readonly kind: 'success' | 'invalid_grant' | 'invalid_token' | 'refused' | 'nothing';
      readonly at: number;
    }
  | { readonly kind: 'unavailable'; readonly at: number; readonly notBefore: number };

export interface Asked {
  /** Its number in this rehearsal, from 1; 0 outside. */
  number: number;
  /** Milliseconds, of the monotonic clock. */
  readonly at: number;
  readonly method: string;
  /** As it came. */
  readonly path: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  readonly form: URLSearchParams;
  readonly endpoint: Endpoint;
  /** The token of the Authorization header. */
  readonly bearer: string | undefined;
  /** Undefined while it is under way. */
  outcome: Outcome | undefined;
}

const grants: Readonly<Record<string, Endpoint>> = {
  authorization_code: 'exchange',
  refresh_token: 'refresh',
};

export function endpointOf({ pathname }: URL, form: URLSearchParams): Endpoint {
  if (pathname === '/token') return grants[form.get('grant_type') ?? ''] ?? 'token';
  return (Object.keys(paths) as Path[]).find((name) => paths[name].test(pathname)) ?? 'other';
}

/** In words that quote no secret. */
export function describe({ number, method, endpoint, url }: Asked): string {
  const what = { exchange: 'code exchange', refresh: 'refresh' }[endpoint as string];
  return `Request ${number} (${what ?? `${method} ${url.pathname}`})`;
}

export function outcomeOf({ status, headers, body, delivered }: Answer, at: number): Outcome {
  if (delivered !== undefined) return { kind: 'nothing', at };
  if (status < 400) return { kind: 'success', at };
  const error = (jsonOf(body) as { error?: unknown } | undefined)?.error;
  const retryAfter = headers.find(([name]) => name.toLowerCase() === 'retry-after')?.[1];
  if (status === 503 && error === 'temporarily_unavailable')
    return { kind: 'unavailable', at, notBefore: at + Number(retryAfter ?? 1) * 1_000 };
  if (status >= 500 || status === 429) return { kind: 'nothing', at };
  if (error === 'invalid_grant' || error === 'invalid_token') return { kind: error, at };
  return { kind: 'refused', at };
}

export function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

export function jsonAnswer(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  const all = { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers };
  return { status, headers: Object.entries(all), body: Buffer.from(JSON.stringify(body)) };
}
