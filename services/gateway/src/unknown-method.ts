// A method that Node's parser does not know never becomes a request: it is judged here by the path alone, as
// every other method is (specification §4, R20, R31).
import type { Route } from './routes/route.ts';

/** The path of a request line, when the bytes begin with one. */
const requestLine = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ (\/[^\s?]*)(\?\S*)? HTTP\/1\.[01]\r?\n/;

export type UnknownMethod =
  | { readonly kind: 'known-route'; readonly allow: string }
  | { readonly kind: 'unknown-route' };

/** What the first bytes of a connection ask for; undefined when they are no request line at all. */
export function readUnknownMethod(packet: unknown, routes: readonly Route[]): UnknownMethod | undefined {
  const path = requestLine.exec(Buffer.isBuffer(packet) ? packet.toString('latin1') : '')?.[1];
  if (path === undefined) return undefined;
  const methods = routes.filter((route) => patternOf(route.path).test(path)).flatMap(methodsOf);
  if (methods.length === 0) return { kind: 'unknown-route' };
  return { kind: 'known-route', allow: [...new Set(methods)].join(', ') };
}

function methodsOf({ method, head }: Route): readonly string[] {
  return head ? [method, 'HEAD'] : [method];
}

/** `:name` stands for one segment that is not empty. */
function patternOf(path: string): RegExp {
  const segments = path.split('/').map((part) => (part.startsWith(':') ? '[^/]+' : RegExp.escape(part)));
  return new RegExp(`^${segments.join('/')}$`);
}
