// Response headers by profile (R7.4, R25.3, R25.4). None is a CORS header (R20.6).
import type { ResponseProfile } from './route.ts';

export type Headers = Readonly<Record<string, string>>;

const noStore: Headers = { 'cache-control': 'no-store' };

const byProfile: Readonly<Record<ResponseProfile, Headers>> = {
  resource: noStore,
  token: { ...noStore, pragma: 'no-cache' },
  public: noStore,
  // No Cross-Origin-Opener-Policy: partners may run the flow in a popup.
  page: {
    ...noStore,
    'content-security-policy': contentSecurityPolicy(false),
    'referrer-policy': 'no-referrer',
    'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  },
};

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
 * No script, no frame, only our stylesheet. `form-action` is left out where a form may lead to a partner (R25.8):
 * Chromium applies it to every redirect after a form.
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
