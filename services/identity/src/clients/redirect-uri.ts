// Redirect URIs: what may be registered (R3).

/** Plain-http loopback addresses: never in production. */
export interface RegistrationRules {
  readonly allowHttpLoopback: boolean;
}

const loopbackHosts: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** Scheme, authority without userinfo, path or nothing. */
const shape = /^(https?):\/\/([^/@]+)(\/.*)?$/;
const dotSegment = /(^|\/)(\.|%2e){1,2}(\/|$)/i;

/** One sentence. A registered URI is kept and compared as it was written. */
export function redirectUriProblem(uri: string, rules: RegistrationRules): string | undefined {
  if (/[^\x21-\x7e]/.test(uri)) return 'It holds a space, a control character or a non-ASCII character.';
  if (/[?#]/.test(uri)) return 'It holds a query or a fragment.';
  if (uri.includes('*')) return 'It holds a wildcard.';
  if (uri.includes('\\')) return 'It holds a backslash.';
  const [, scheme, authority, path = ''] = shape.exec(uri) ?? [];
  if (scheme === undefined || authority === undefined)
    return 'It is not https://host/path without a user name.';
  if (dotSegment.test(path)) return 'Its path holds a dot segment.';
  if (!URL.canParse(uri)) return 'Its host or port is not valid.';
  if (scheme === 'https') return undefined;
  const loopback = loopbackHosts.includes(authority.replace(/:[0-9]*$/, '').toLowerCase());
  return rules.allowHttpLoopback && loopback ? undefined : 'Its scheme is not https.';
}
