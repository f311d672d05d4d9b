// The gateway's clients of identity and design-catalog.
import { CatalogService } from '@course-exchange/proto/catalog/v1';
import { AuthorizationService } from '@course-exchange/proto/identity/v1/authorization';
import { DiscoveryService } from '@course-exchange/proto/identity/v1/discovery';
import { TokenService } from '@course-exchange/proto/identity/v1/token';
import { bearerToken } from '@course-exchange/rules/access-token';
import { connectRpc, type OutgoingCall } from '@course-exchange/runtime/grpc/client';
import type { RpcTls } from '@course-exchange/runtime/grpc/tls';
import { withLastAnswer } from './last-answer.ts';

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

// Reads only: another method may have consumed a grant or counted a login.
const identityReads = ['getInteraction', 'getBrowserSession', 'getDiscovery', 'getKeySet', 'getUserInfo'];
const catalogReads = ['listEvents', 'listDesigns'];

/** Between attempts to get discovery and key set, until both are known. */
const askAgainMs = 5_000;

/** A malformed header is left out: gRPC metadata cannot carry every byte. */
export function bearerCall(authorization: string | undefined): OutgoingCall {
  const token = bearerToken(authorization);
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

export function connectServices({ identity, catalog, timeoutMs, now, tls }: ServiceTargets) {
  const each = { timeoutMs, streams: true, credentials: tls?.channel };
  const toIdentity = connectRpc([AuthorizationService, TokenService, DiscoveryService], {
    target: identity,
    reads: identityReads,
    ...each,
  });
  const toCatalog = connectRpc([CatalogService], { target: catalog, reads: catalogReads, ...each });
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
