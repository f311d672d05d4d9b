// Every request to the provider goes out through here: it carries the correlation id of the page request that
// caused it, and leaves one log line with endpoint, status and safe error code (specification §7). Never a
// query, body, header, token or code.
import { AsyncLocalStorage } from 'node:async_hooks';
import { type Logger, logText } from '@course-exchange/runtime/logger';

const correlation = new AsyncLocalStorage<string>();

/** Runs `work` so that outgoing requests carry `requestId`. */
export function withRequestId<T>(requestId: string, work: () => T): T {
  return correlation.run(requestId, work);
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** A fetch that adds `X-Request-Id` and logs. Rejects as fetch does. */
export function createOutgoingFetch(logger: Logger): Fetch {
  return async (url, init) => {
    const requestId = correlation.getStore();
    const headers = new Headers(init.headers);
    if (requestId) headers.set('x-request-id', requestId);
    const facts = {
      endpoint: logText(endpointOf(url)),
      ...(requestId ? { requestId: logText(requestId) } : {}),
    };
    try {
      const response = await fetch(url, { ...init, headers, redirect: 'manual' });
      logger.info('provider answered', { ...facts, status: response.status, ...(await errorCode(response)) });
      return response;
    } catch (error) {
      const name = error instanceof Error ? error.name : 'Error';
      logger.warn('provider did not answer', { ...facts, reason: logText(name) });
      throw error;
    }
  };
}

function endpointOf(url: string): string {
  return new URL(url).pathname.replace(/^\/api\/events\/[^/]+\/designs$/, '/api/events/{eventId}/designs');
}

async function errorCode(response: Response): Promise<{ error?: ReturnType<typeof logText> }> {
  if (response.ok || !response.headers.get('content-type')?.includes('json')) return {};
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => undefined);
  const code = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined;
  // Only what looks like a code of the specification: an error description could quote personal data.
  return typeof code === 'string' && /^[a-z_]{1,40}$/.test(code) ? { error: logText(code) } : {};
}
