// The clients of identity and design-catalog. Discovery and key set are served for an hour without identity.
import { CatalogService } from '@course-exchange/proto/catalog/v1';
import { AuthorizationService } from '@course-exchange/proto/identity/v1/authorization';
import { DiscoveryService } from '@course-exchange/proto/identity/v1/discovery';
import { TokenService } from '@course-exchange/proto/identity/v1/token';
import { connectRpc, type OutgoingCall } from '@course-exchange/runtime/grpc/client';
import type { RpcTls } from '@course-exchange/runtime/grpc/tls';
import { inOneFlight } from '@course-exchange/runtime/process/coalesce';
import { Failure } from '@course-exchange/runtime/process/errors';

interface ServiceTargets {
  readonly identity: string;
  readonly catalog: string;
  readonly timeoutMs: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Plaintext if absent. */
  readonly tls?: RpcTls | undefined;
}

export type Services = ReturnType<typeof connectServices>;

/** Between attempts to get discovery and key set, until both are known. */
const askAgainMs = 5_000;

/** Characters of the longest `Authorization` header that is read. */
const longestHeader = 8_192;

/** RFC 6750 §2.1. A malformed token is left out: gRPC metadata cannot carry every byte. */
export function bearerCall(authorization = ''): OutgoingCall {
  if (authorization.length > longestHeader) return {};
  return { bearer: /^Bearer +([A-Za-z0-9\-._~+/]+=*) *$/i.exec(authorization)?.[1] };
}

export function connectServices({ identity, catalog, timeoutMs, now, tls }: ServiceTargets) {
  const each = { timeoutMs, streams: true, credentials: tls?.channel };
  const toIdentity = connectRpc([AuthorizationService, TokenService, DiscoveryService], {
    target: identity,
    ...each,
  });
  const toCatalog = connectRpc([CatalogService], { target: catalog, ...each });
  const { getDiscovery, getKeySet } = toIdentity.client(DiscoveryService);
  const discovery = {
    document: withLastAnswer(() => getDiscovery({}), now),
    keySet: withLastAnswer(() => getKeySet({}), now),
  };
  const known = async () => {
    const asked = await Promise.allSettled([discovery.document(), discovery.keySet()]);
    return asked.every(({ status }) => status === 'fulfilled');
  };
  let asking: NodeJS.Timeout | undefined;
  return {
    authorization: toIdentity.client(AuthorizationService),
    token: toIdentity.client(TokenService),
    discovery,
    catalog: toCatalog.client(CatalogService),
    /**
     * Resolves when both services were reached once, or after `timeoutMs`. Discovery and key set are requested until
     * they are known.
     */
    reached: async (timeoutMs: number): Promise<void> => {
      await Promise.all([toIdentity.reached(timeoutMs), toCatalog.reached(timeoutMs)]);
      if (await known()) return;
      asking = setInterval(async () => (await known()) && clearInterval(asking), askAgainMs).unref();
    },
    close: () => {
      clearInterval(asking);
      toIdentity.close();
      toCatalog.close();
      tls?.close();
    },
  };
}

const longestReuse = 3_600_000;
/** Milliseconds after a failure without a new call. */
const pause = 2_000;

/** Concurrent callers share a `read`. The last success of the past hour counts while it is unavailable. */
export function withLastAnswer<T>(read: () => Promise<T>, now: () => number): () => Promise<T> {
  let last: { readonly answer: T; readonly at: number } | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  const readOnce = inOneFlight(read);
  return async () => {
    if (last && now() - failedAt < pause && now() - last.at < longestReuse) return last.answer;
    try {
      last = { answer: await readOnce(), at: now() };
      failedAt = Number.NEGATIVE_INFINITY;
      return last.answer;
    } catch (error) {
      const unanswered = error instanceof Failure && error.code === 'temporarily_unavailable';
      if (unanswered) failedAt = now();
      if (unanswered && last && now() - last.at < longestReuse) return last.answer;
      throw error;
    }
  };
}
