// Access tokens and their refresh (specification §3, §5): one refresh at a time per user, the replacement stored
// before use, and a token sent again only after a 503, once.
import * as client from 'openid-client';
import { tokensOf } from './authorization.ts';
import type { Connections, StoredConnection } from './connections.ts';
import { PartnerFailure } from './failure.ts';
import { type Provider, retryAfterMs } from './provider.ts';
import type { Identity } from './sessions.ts';

export type AccessTokens = ReturnType<typeof createAccessTokens>;

const marginMs = 60_000;

interface AccessTokenDeps {
  readonly provider: Provider;
  readonly connections: Connections;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

interface RefreshDeps extends AccessTokenDeps {
  /** When a refresh token may be sent a second, last time, after a 503. */
  readonly retryAt: Map<string, number>;
}

export function createAccessTokens(given: AccessTokenDeps) {
  const deps: RefreshDeps = { ...given, retryAt: new Map() };
  const { connections, now } = deps;
  const running = new Map<string, Promise<string>>();

  /**
   * Refreshes, unless `rejected` has been replaced already; concurrent calls share it. Throws PartnerFailure
   * `reconnect` when the tokens are lost (and deleted).
   */
  const refresh = (identity: Identity, rejected?: string): Promise<string> => {
    const key = JSON.stringify([identity.iss, identity.sub]);
    const pending = running.get(key);
    if (pending) return pending;
    const started = refreshOnce(deps, identity, rejected).finally(() => running.delete(key));
    running.set(key, started);
    return started;
  };

  return {
    refresh,
    /** An access token with at least a minute to live. Throws PartnerFailure. */
    current: async (identity: Identity): Promise<string> => {
      const connection = connections.find(identity);
      if (!connection) throw new PartnerFailure('reconnect');
      if (connection.accessTokenExpiresAt - marginMs > now()) return connection.accessToken;
      return refresh(identity);
    },
  };
}

async function refreshOnce(deps: RefreshDeps, identity: Identity, rejected?: string): Promise<string> {
  const { provider, connections, now, retryAt } = deps;
  // Discovery first: if it fails, nothing has been sent and the tokens stay.
  const configuration = await provider();
  const old = connections.find(identity);
  if (!old) throw new PartnerFailure('reconnect');
  if (rejected !== undefined && old.accessToken !== rejected) return old.accessToken;
  if (now() < (retryAt.get(old.refreshToken) ?? 0)) throw new PartnerFailure('unavailable');
  // Marked before the request: after a crash the token is discarded, not sent again.
  if (!connections.startRefresh(identity, old.version)) throw new PartnerFailure('unavailable');
  const fresh = await request(deps, configuration, identity, old);
  if (!connections.replace(identity, old.version, fresh, now())) throw new PartnerFailure('reconnect');
  return fresh.accessToken;
}

async function request(
  { connections, now, retryAt }: RefreshDeps,
  configuration: client.Configuration,
  identity: Identity,
  old: StoredConnection,
): Promise<ReturnType<typeof tokensOf>> {
  const isSecond = retryAt.delete(old.refreshToken);
  try {
    return tokensOf(await client.refreshTokenGrant(configuration, old.refreshToken), old, now());
  } catch (error) {
    if (isInvalidClient(error)) {
      // Our own credentials were refused before the token was checked: it is still good.
      connections.cancelRefresh(identity, old.version);
      throw new PartnerFailure('connection_failed', { cause: error });
    }
    const wait = await retryAfter(error);
    if (wait !== undefined && !isSecond) {
      retryAt.set(old.refreshToken, now() + wait);
      connections.cancelRefresh(identity, old.version);
      throw new PartnerFailure('unavailable', { cause: error });
    }
    // The token is or may be consumed: start a new flow.
    connections.remove(identity, old.version);
    throw new PartnerFailure('reconnect', { cause: error });
  }
}

/** Milliseconds, of a 503 that says that nothing was consumed: overload, or a store that is down. */
async function retryAfter(error: unknown): Promise<number | undefined> {
  // openid-client reads no body of a 5xx.
  const answer = error instanceof client.ClientError ? error.cause : undefined;
  if (!(answer instanceof Response) || answer.status !== 503) return undefined;
  const body: unknown = await answer.json().catch(() => undefined);
  if ((body as { readonly error?: unknown } | undefined)?.error !== 'temporarily_unavailable')
    return undefined;
  return retryAfterMs(answer) || 1_000;
}

function isInvalidClient(error: unknown): boolean {
  if (error instanceof client.ResponseBodyError) return error.error === 'invalid_client';
  return error instanceof client.WWWAuthenticateChallengeError && error.status === 401;
}
