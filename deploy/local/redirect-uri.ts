// Which redirect URIs a --seed FILE may register: R3, as the identity service rules it outside of production.
// A test holds both against one table.

const loopbackHosts: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** Scheme, authority without userinfo, and a path or nothing. */
const shape = /^(https?):\/\/([^/@]+)(\/.*)?$/;
const dotSegment = /(^|\/)(\.|%2e){1,2}(\/|$)/i;

/** What is wrong with `uri`, in one sentence; undefined when nothing is. */
export function redirectUriMistake(uri: string): string | undefined {
  if (/[^\x21-\x7e]/.test(uri)) return 'It holds a space, a control character or a non-ASCII character.';
  if (/[?#]/.test(uri)) return 'It holds a query or a fragment.';
  if (uri.includes('*')) return 'It holds a wildcard.';
  if (uri.includes('\\')) return 'It holds a backslash.';
  const [, scheme, authority, path = ''] = shape.exec(uri) ?? [];
  if (scheme === undefined || authority === undefined)
    return 'It is not https://host/path without a user name.';
  if (dotSegment.test(path)) return 'Its path holds a dot segment.';
  if (!URL.canParse(uri)) return 'Its host or port is not valid.';
  const loopback = loopbackHosts.includes(authority.replace(/:[0-9]*$/, '').toLowerCase());
  return scheme === 'https' || loopback ? undefined : 'Its scheme is not https.';
}
