// Gives out access tokens that are still valid, and refreshes them (specification §3 and §5). The old refresh
// token is consumed before its replacement arrives: so one refresh at a time for each user, the replacement
// stored before use, and never a second attempt with a token that may have been consumed.
import * as client from 'openid-client';
import { tokensOf } from './authorization.ts';
import { PartnerFailure } from './partner-failure.ts';
import type { Provider } from './provider.ts';
import type { Connections, StoredConnection } from './store/connections.ts';
import type { Identity } from './store/sessions.ts';

export interface AccessTokens {
  /** An access token with at least a minute to live. Throws PartnerFailure. */
  readonly current: (identity: Identity) => Promise<string>;
  /**
   * Refreshes, unless `rejected` has been replaced already. Concurrent calls share one refresh. Throws
   * PartnerFailure `reconnect` when the tokens are lost: they are deleted by then.
   */
  readonly refresh: (identity: Identity, rejected?: string) => Promise<string>;
}

/** Refresh this long before the end, so that a token does not expire on its way. */
const marginMs = 60_000;

export function createAccessTokens(
  provider: Provider,
  connections: Connections,
  now: () => number,
): AccessTokens {
  const running = new Map<string, Promise<string>>();

  const refresh = (identity: Identity, rejected?: string): Promise<string> => {
    const key = JSON.stringify([identity.iss, identity.sub]);
    const pending = running.get(key);
    if (pending) return pending;
    const started = refreshOnce(identity, rejected).finally(() => running.delete(key));
    running.set(key, started);
    return started;
  };

  const refreshOnce = async (identity: Identity, rejected?: string): Promise<string> => {
    // Discovery first: while it fails, nothing has been sent and the tokens stay.
    const configuration = await provider();
    const old = connections.find(identity);
    if (!old) throw new PartnerFailure('reconnect');
    if (rejected !== undefined && old.accessToken !== rejected) return old.accessToken;
    // The mark is in the file before the request: after a crash the token is discarded, not sent again.
    if (!connections.startRefresh(identity, old.version)) throw new PartnerFailure('unavailable');
    const fresh = await request(configuration, identity, old);
    if (!connections.replace(identity, old.version, fresh, now())) throw new PartnerFailure('reconnect');
    return fresh.accessToken;
  };

  const request = async (
    configuration: client.Configuration,
    identity: Identity,
    old: StoredConnection,
  ): Promise<ReturnType<typeof tokensOf>> => {
    try {
      return tokensOf(await client.refreshTokenGrant(configuration, old.refreshToken), old, now());
    } catch (error) {
      if (isInvalidClient(error)) {
        // Our own credentials were refused, before the token was looked at: it is still good.
        connections.cancelRefresh(identity, old.version);
        throw new PartnerFailure('connection_failed', { cause: error });
      }
      // invalid_grant, a lost answer, a time-out, a 5xx: the token is or may be consumed. Start a new flow.
      connections.remove(identity, old.version);
      throw new PartnerFailure('reconnect', { cause: error });
    }
  };

  return {
    refresh,
    current: async (identity) => {
      const connection = connections.find(identity);
      if (!connection) throw new PartnerFailure('reconnect');
      if (connection.accessTokenExpiresAt - marginMs > now()) return connection.accessToken;
      return refresh(identity);
    },
  };
}

function isInvalidClient(error: unknown): boolean {
  if (error instanceof client.ResponseBodyError) return error.error === 'invalid_client';
  return error instanceof client.WWWAuthenticateChallengeError && error.status === 401;
}
