// What a route answers, as a value: status, headers and body. Only routing.ts turns it into bytes.

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Whole `Set-Cookie` values. */
  readonly cookies: readonly string[];
  readonly body: string;
}

/** `body` is JSON text already: each route writes exactly the fields of its contract. */
export function jsonAnswer(status: number, body: string, headers: Answer['headers'] = {}): Answer {
  return { status, headers: { 'content-type': 'application/json', ...headers }, cookies: [], body };
}

export function htmlAnswer(status: number, body: string, headers: Answer['headers'] = {}): Answer {
  return { status, headers: { 'content-type': 'text/html; charset=utf-8', ...headers }, cookies: [], body };
}

/** R4: 303, so that a form's POST never travels on. `location` is sent as it is. */
export function redirectAnswer(location: string, cookies: readonly string[] = []): Answer {
  return { status: 303, headers: { location }, cookies, body: '' };
}
