// The provider's configuration from discovery, cached for a bounded time (specification §4), and the one fetch for all
// requests to it.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { FastifyBaseLogger } from 'fastify';
import * as client from 'openid-client';
import { isLoopbackHttp, type Registration } from './config.ts';
import { PartnerFailure } from './failure.ts';

/** The current configuration. Throws PartnerFailure `unavailable` while discovery cannot be read. */
export type Provider = () => Promise<client.Configuration>;

const cacheMs = 10 * 60_000;
const timeoutSeconds = 10;
/** Clock skew tolerated in `exp` and `iat`. */
export const clockToleranceSeconds = 5;

/** Concurrent callers share one request; a failure is not cached. */
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
  const issuer = new URL(registration.ISSUER);
  const configuration = await client.discovery(
    issuer,
    registration.CLIENT_ID,
    {
      // `none` and HS256 with the public key as secret are refused.
      id_token_signed_response_alg: 'RS256',
      [client.clockTolerance]: clockToleranceSeconds,
    },
    client.ClientSecretBasic(registration.CLIENT_SECRET),
    {
      [client.customFetch]: (url, init) => fetch(url, init as RequestInit),
      timeout: timeoutSeconds,
      execute: [
        // Otherwise openid-client trusts TLS and skips the ID token's signature.
        client.enableNonRepudiationChecks,
        ...(isLoopbackHttp(issuer) ? [client.allowInsecureRequests] : []),
      ],
    },
  );
  // openid-client compares URLs; the specification wants the issuer exactly as configured.
  if (configuration.serverMetadata().issuer !== registration.ISSUER) throw new Error('issuer differs');
  return configuration;
}

const correlation = new AsyncLocalStorage<string>();

export function withRequestId<T>(requestId: string, work: () => T): T {
  return correlation.run(requestId, work);
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Milliseconds, or 0. */
export function retryAfterMs(answer: Response): number {
  return 1_000 * (Number(answer.headers.get('retry-after')) || 0);
}

/**
 * Adds `X-Request-Id` and logs endpoint, status and error code (specification §7), never a query, body, header, token
 * or code.
 */
export function createProviderFetch(logger: FastifyBaseLogger): Fetch {
  return async (url, init) => {
    const requestId = correlation.getStore();
    const headers = new Headers(init.headers);
    if (requestId) headers.set('x-request-id', requestId);
    const facts = { endpoint: endpointOf(url), requestId };
    try {
      const response = await fetch(url, { ...init, headers, redirect: 'manual' });
      const error = await errorCodeOf(response);
      logger.info({ ...facts, status: response.status, error }, 'provider answered');
      return response;
    } catch (error) {
      const reason = error instanceof Error ? error.name : 'Error';
      logger.warn({ ...facts, reason }, 'provider did not answer');
      throw error;
    }
  };
}

function endpointOf(url: string): string {
  return new URL(url).pathname.replace(/^\/api\/events\/[^/]+\/designs$/, '/api/events/{eventId}/designs');
}

async function errorCodeOf(response: Response): Promise<string | undefined> {
  if (response.ok || !response.headers.get('content-type')?.includes('json')) return undefined;
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => undefined);
  const code = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined;
  // An error description could quote personal data.
  return typeof code === 'string' && /^[a-z_]{1,40}$/.test(code) ? code : undefined;
}
