// Headers that every answer carries, by who reads it (R25). No CORS header is ever among them (R20).
import type { ResponseProfile } from './route.ts';

export type Headers = Readonly<Record<string, string>>;

const noStore: Headers = { 'cache-control': 'no-store' };

const byProfile: Readonly<Record<ResponseProfile, Headers>> = {
  resource: noStore,
  token: { ...noStore, pragma: 'no-cache' },
  public: noStore,
  // No Cross-Origin-Opener-Policy: partners may open the flow in a window and wait for it to come back.
  page: {
    ...noStore,
    'content-security-policy': contentSecurityPolicy(false),
    'referrer-policy': 'no-referrer',
    'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  },
};

/** Headers of `profile` for an issuer; a route's own headers stand above them. */
export function profileHeaders(profile: ResponseProfile, issuer: string): Headers {
  return { ...everywhere(issuer), ...byProfile[profile] };
}

function everywhere(issuer: string): Headers {
  const strictTransport = issuer.startsWith('https:')
    ? { 'strict-transport-security': 'max-age=31536000; includeSubDomains' }
    : {};
  return { 'x-content-type-options': 'nosniff', ...strictTransport };
}

/**
 * No script, no frame, our own stylesheet. `form-action` is left out where a form may lead to a partner (R25):
 * Chromium applies it to every redirect that follows a form, and a partner's callback may go on to another
 * of its hosts, which no list of ours can know; the form's button would then do nothing (Chromium 156).
 */
export function contentSecurityPolicy(leadsToPartner: boolean): string {
  return [
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self'",
    ...(leadsToPartner ? [] : ["form-action 'self'"]),
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}
