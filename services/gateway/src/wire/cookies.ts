// The two kinds of cookies: the browser session, and one binding for each transaction, so that two tabs
// and two partners at once never disturb each other.

export interface Cookies {
  /** The presented session; '' when there is none. Secret. */
  readonly session: (header: string | undefined) => string;
  /** The presented binding of one transaction; '' when there is none. Secret. */
  readonly binding: (header: string | undefined, interactionId: string) => string;
  /** Lives as long as the browser (R29). */
  readonly setSession: (value: string) => string;
  readonly clearSession: () => string;
  readonly setBinding: (interactionId: string, value: string, maxAgeSeconds: number) => string;
  /** Expires the oldest bindings, so that with a new one at most eight are kept. */
  readonly clearSurplusBindings: (header: string | undefined) => readonly string[];
}

const mostBindings = 8;
/** Names and values of our own making; anything else was not set by us. */
const wellFormed = /^[A-Za-z0-9._-]{1,256}$/;

export function createCookies(issuer: string): Cookies {
  const secure = issuer.startsWith('https:');
  const prefix = secure ? '__Host-' : '';
  const sessionName = `${prefix}session`;
  const bindingPrefix = `${prefix}interaction-`;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  const clear = (name: string) => `${name}=; Max-Age=0; ${attributes}`;
  return {
    session: (header) => presented(header).get(sessionName) ?? '',
    binding: (header, id) => presented(header).get(bindingPrefix + id) ?? '',
    setSession: (value) => `${sessionName}=${value}; ${attributes}`,
    clearSession: () => clear(sessionName),
    setBinding: (id, value, maxAge) => `${bindingPrefix}${id}=${value}; Max-Age=${maxAge}; ${attributes}`,
    clearSurplusBindings: (header) => {
      const bindings = [...presented(header).keys()].filter((name) => name.startsWith(bindingPrefix));
      // Browsers send the oldest first (RFC 6265 §5.4).
      return bindings.slice(0, Math.max(0, bindings.length - mostBindings + 1)).map(clear);
    },
  };
}

function presented(header: string | undefined): ReadonlyMap<string, string> {
  const cookies = new Map<string, string>();
  for (const pair of (header ?? '').split(';')) {
    const mark = pair.indexOf('=');
    const name = pair.slice(0, Math.max(0, mark)).trim();
    const value = pair.slice(mark + 1).trim();
    if (wellFormed.test(name) && wellFormed.test(value) && !cookies.has(name)) cookies.set(name, value);
  }
  return cookies;
}
