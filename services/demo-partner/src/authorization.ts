// The authorization-code flow of a confidential client, in the order of specification §5. Returns nothing before every
// check has passed.
import * as client from 'openid-client';
import type { Registration } from './config.ts';
import type { Connection } from './connections.ts';
import { hashOf, type StoreDeps } from './database.ts';
import { PartnerFailure } from './failure.ts';
import { clockToleranceSeconds, type Provider } from './provider.ts';

interface AuthorizationDeps {
  readonly registration: Registration;
  readonly provider: Provider;
  readonly transactions: ReturnType<typeof createTransactions>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export function createAuthorization(deps: AuthorizationDeps) {
  const { registration, provider, transactions, now } = deps;
  return {
    /** Steps 1 and 2: stores a transaction for this browser session. */
    begin: async (session: string, destination: string): Promise<URL> => {
      const configuration = await provider();
      const state = client.randomState();
      const nonce = client.randomNonce();
      const verifier = client.randomPKCECodeVerifier();
      transactions.begin(state, session, { nonce, verifier, destination }, now());
      return client.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri(registration),
        scope: registration.SCOPES,
        state,
        nonce,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
    },

    /** Steps 3 to 6, for the callback's query; undefined when the user declined. Throws PartnerFailure. */
    finish: async (session: string | undefined, query: URLSearchParams) => {
      const [state, ...more] = query.getAll('state');
      if (!state || more.length > 0 || !session) throw new PartnerFailure('connection_failed');
      // Before any other check, so that this callback can never be replayed.
      const transaction = transactions.consume(state, session, now());
      if (!transaction) throw new PartnerFailure('connection_failed');
      // An OAuth error ends here, without a token exchange.
      if (query.has('error')) {
        if (query.get('error') === 'access_denied') return undefined;
        throw new PartnerFailure('connection_failed');
      }
      const { tokens, claims } = await exchange(deps, query, state, transaction);
      return {
        // Name and e-mail are for display, and may be absent.
        identity: { iss: claims.iss, sub: claims.sub },
        connection: {
          ...tokensOf(tokens, { name: textOf(claims.name), email: textOf(claims.email) }, now()),
          refreshedAt: undefined,
        },
        destination: transaction.destination,
      };
    },
  };
}

/** Exactly as registered. */
function redirectUri({ PUBLIC_URL }: Registration): string {
  return `${PUBLIC_URL}/callback`;
}

type Tokens = Awaited<ReturnType<typeof client.authorizationCodeGrant>>;

async function exchange(
  { registration, provider, now }: AuthorizationDeps,
  query: URLSearchParams,
  state: string,
  transaction: { readonly nonce: string; readonly verifier: string },
): Promise<{ tokens: Tokens; claims: client.IDToken }> {
  const configuration = await provider();
  const callback = new URL(redirectUri(registration));
  callback.search = query.toString();
  try {
    // Checks signature by `kid`, RS256, `iss`, `aud`, `exp`, `nonce`.
    const tokens = await client.authorizationCodeGrant(configuration, callback, {
      expectedState: state,
      expectedNonce: transaction.nonce,
      pkceCodeVerifier: transaction.verifier,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (!claims) throw new Error('no ID token');
    checkClaims(claims, registration.CLIENT_ID, now());
    return { tokens, claims };
  } catch (error) {
    // The user does not see what was wrong; the log does.
    throw new PartnerFailure('connection_failed', { cause: error });
  }
}

/** Beyond openid-client's: this client as the only audience, `iat`, `token_use`. */
function checkClaims(claims: client.IDToken, clientId: string, now: number): void {
  if (claims.aud !== clientId) throw new Error('aud');
  if (claims.iat > now / 1000 + clockToleranceSeconds) throw new Error('iat');
  if (claims.token_use !== 'id_token') throw new Error('token_use');
}

/**
 * The part that is stored. Throws when the response breaks the contract. `display` survives a refresh, which brings no
 * ID token.
 */
export function tokensOf(
  tokens: { access_token: string; refresh_token?: string; expires_in?: number },
  display: Pick<Connection, 'name' | 'email'>,
  now: number,
): Connection {
  if (!tokens.refresh_token || !tokens.expires_in) throw new PartnerFailure('connection_failed');
  return {
    accessToken: tokens.access_token,
    refreshToken: tokens.refresh_token,
    accessTokenExpiresAt: now + tokens.expires_in * 1000,
    refreshedAt: now,
    name: display.name,
    email: display.email,
  };
}

function textOf(claim: unknown): string | undefined {
  return typeof claim === 'string' && claim !== '' ? claim : undefined;
}

interface Transaction {
  readonly nonce: string;
  readonly verifier: string;
  /** Local path that the user wanted to see. */
  readonly destination: string;
}

const lifetimeMs = 15 * 60_000;

/**
 * Specification §5, step 1: bound to the browser session, short-lived, used once. Times are milliseconds since the
 * epoch.
 */
export function createTransactions({ database, seal }: StoreDeps) {
  const insert = database.prepare(
    'INSERT INTO transactions (state_hash, session_hash, sealed, expires_at) VALUES (?, ?, ?, ?)',
  );
  const take = database.prepare(
    'DELETE FROM transactions WHERE state_hash = ? AND session_hash = ? RETURNING sealed, expires_at',
  );
  const rebind = database.prepare('UPDATE transactions SET session_hash = ? WHERE session_hash = ?');
  const dropExpired = database.prepare('DELETE FROM transactions WHERE expires_at <= ?');
  return {
    begin: (state: string, session: string, transaction: Transaction, now: number): void => {
      dropExpired.run(now);
      const hash = hashOf(state);
      insert.run(hash, hashOf(session), seal.seal(transaction, hash), now + lifetimeMs);
    },
    /** Other tabs' transactions follow a browser to its new session. */
    move: (oldSession: string, newSession: string) => void rebind.run(hashOf(newSession), hashOf(oldSession)),
    /**
     * Atomic: a second callback with the same state finds nothing. `undefined` when the state is unknown, used,
     * expired, or of another browser session.
     */
    consume: (state: string, session: string, now: number): Transaction | undefined => {
      const hash = hashOf(state);
      const row = take.get(hash, hashOf(session)) as { sealed: Uint8Array; expires_at: number } | undefined;
      if (!row || row.expires_at <= now) return undefined;
      return seal.unseal(row.sealed, hash) as Transaction | undefined;
    },
  };
}
