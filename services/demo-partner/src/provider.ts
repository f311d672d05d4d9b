// The provider as its discovery document describes it, kept for a bounded time (specification §4, discovery).
// Everything but the issuer, the client's credentials and the two resource paths comes from there.

import type { Secret } from '@course-exchange/runtime/secret';
import * as client from 'openid-client';
import { isLoopbackHttp } from './config.ts';
import type { Fetch } from './outgoing.ts';
import { PartnerFailure } from './partner-failure.ts';

export interface Registration {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: Secret<string>;
}

/** The current configuration. Throws PartnerFailure `unavailable` while discovery cannot be read. */
export type Provider = () => Promise<client.Configuration>;

const cacheMs = 10 * 60_000;
const timeoutSeconds = 10;
/** Clock skew that is tolerated in `exp` and `iat`. */
export const clockToleranceSeconds = 5;

/** Concurrent callers share one discovery request; a failure is not cached. */
export function createProvider(registration: Registration, fetch: Fetch, now: () => number): Provider {
  let cached: { readonly until: number; readonly configuration: Promise<client.Configuration> } | undefined;
  return async () => {
    if (!cached || cached.until <= now()) {
      cached = { until: now() + cacheMs, configuration: discover(registration, fetch) };
    }
    const attempt = cached;
    try {
      return await attempt.configuration;
    } catch (error) {
      if (cached === attempt) cached = undefined;
      throw new PartnerFailure('unavailable', { cause: error });
    }
  };
}

async function discover(registration: Registration, fetch: Fetch): Promise<client.Configuration> {
  const issuer = new URL(registration.issuer);
  const configuration = await client.discovery(
    issuer,
    registration.clientId,
    {
      // The only algorithm accepted: `none` and HS256 with the public key as secret are refused.
      id_token_signed_response_alg: 'RS256',
      [client.clockTolerance]: clockToleranceSeconds,
    },
    client.ClientSecretBasic(registration.clientSecret.reveal()),
    {
      [client.customFetch]: (url, init) => fetch(url, init as RequestInit),
      timeout: timeoutSeconds,
      execute: [
        // Without this openid-client trusts TLS and does not look at the ID token's signature.
        client.enableNonRepudiationChecks,
        ...(isLoopbackHttp(issuer) ? [client.allowInsecureRequests] : []),
      ],
    },
  );
  // openid-client compares URLs; the specification wants the issuer exactly as configured.
  if (configuration.serverMetadata().issuer !== registration.issuer) throw new Error('issuer differs');
  return configuration;
}
