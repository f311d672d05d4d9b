// Headers that every answer carries, by who reads it (R25). No CORS header is ever among them (R20).
import type { Surface } from './routes/route.ts';

export type Headers = Readonly<Record<string, string>>;

const noStore: Headers = { 'cache-control': 'no-store' };

// No Cross-Origin-Opener-Policy: partners may open the flow in a window and wait for it to come back.
const page: Headers = {
  ...noStore,
  'content-security-policy': contentSecurityPolicy(''),
  'referrer-policy': 'no-referrer',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
};

const bySurface: Readonly<Record<Surface, Headers>> = {
  resource: noStore,
  token: { ...noStore, pragma: 'no-cache' },
  public: noStore,
  page,
};

/** Headers of `surface` for an issuer; a route's own headers stand above them. */
export function surfaceHeaders(surface: Surface, issuer: string): Headers {
  return { ...everywhere(issuer), ...bySurface[surface] };
}

function everywhere(issuer: string): Headers {
  const strictTransport = issuer.startsWith('https:')
    ? { 'strict-transport-security': 'max-age=31536000; includeSubDomains' }
    : {};
  return { 'x-content-type-options': 'nosniff', ...strictTransport };
}

/**
 * No script, no frame, our own stylesheet. A form may lead to `redirectOrigin` besides, and from there on by
 * its scheme: Chromium applies form-action to every redirect that follows a form, and a partner's callback
 * may go on to another of its hosts (R25; measured with Chromium 156).
 */
export function contentSecurityPolicy(redirectOrigin: string): string {
  const [origin, scheme] = /^(https?:)\/\/[A-Za-z0-9.[\]:-]+$/.exec(redirectOrigin) ?? [];
  const beyond = origin === undefined ? '' : ` ${origin} ${scheme}`;
  return [
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self'",
    `form-action 'self'${beyond}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}
