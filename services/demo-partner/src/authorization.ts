// The authorization-code flow of a confidential client, in the order of specification §5. Refuses whatever it
// did not ask for, and gives out nothing before every check has passed.
import * as client from 'openid-client';
import { PartnerFailure } from './partner-failure.ts';
import { clockToleranceSeconds, type Provider } from './provider.ts';
import type { Connection } from './store/connections.ts';
import type { Identity } from './store/sessions.ts';
import type { Transactions } from './store/transactions.ts';

export interface AuthorizationOptions {
  readonly provider: Provider;
  readonly transactions: Transactions;
  readonly clientId: string;
  /** Exactly as registered. */
  readonly redirectUri: string;
  readonly scopes: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export interface Authorization {
  /** Steps 1 and 2: stores a transaction for this browser session, returns where to send the browser. */
  readonly begin: (session: string, destination: string) => Promise<URL>;
  /** Steps 3 to 6, for the query of the callback. Throws PartnerFailure. */
  readonly finish: (session: string | undefined, query: URLSearchParams) => Promise<Outcome>;
}

type Outcome =
  | {
      readonly kind: 'connected';
      readonly identity: Identity;
      readonly connection: Connection;
      readonly destination: string;
    }
  | { readonly kind: 'refused' };

export function createAuthorization(options: AuthorizationOptions): Authorization {
  const { provider, transactions, redirectUri, scopes, now } = options;
  return {
    begin: async (session, destination) => {
      const configuration = await provider();
      const state = client.randomState();
      const nonce = client.randomNonce();
      const verifier = client.randomPKCECodeVerifier();
      transactions.begin(state, session, { nonce, verifier, destination }, now());
      return client.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: scopes,
        state,
        nonce,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
    },

    finish: async (session, query) => {
      const [state, ...more] = query.getAll('state');
      if (!state || more.length > 0 || !session) throw new PartnerFailure('connection_failed');
      // Consumed before anything else is looked at, so that this callback can never be played again.
      const transaction = transactions.consume(state, session, now());
      if (!transaction) throw new PartnerFailure('connection_failed');
      // An OAuth error ends here: there is no code, so there is no token exchange.
      if (query.has('error')) {
        if (query.get('error') === 'access_denied') return { kind: 'refused' };
        throw new PartnerFailure('connection_failed');
      }
      const { tokens, claims } = await exchange(options, query, state, transaction);
      return {
        kind: 'connected',
        // The identity key: issuer and subject. Name and e-mail are for display, and may be absent.
        identity: { iss: claims.iss, sub: claims.sub },
        connection: {
          ...tokensOf(tokens, undefined, now()),
          refreshedAt: undefined,
          name: textOf(claims.name),
          email: textOf(claims.email),
        },
        destination: transaction.destination,
      };
    },
  };
}

type Tokens = Awaited<ReturnType<typeof client.authorizationCodeGrant>>;

async function exchange(
  { provider, redirectUri, clientId, now }: AuthorizationOptions,
  query: URLSearchParams,
  state: string,
  transaction: { readonly nonce: string; readonly verifier: string },
): Promise<{ tokens: Tokens; claims: client.IDToken }> {
  const configuration = await provider();
  const callback = new URL(redirectUri);
  callback.search = query.toString();
  try {
    // Sends client_secret_basic and the verifier; checks signature by `kid`, RS256, `iss`, `aud`, `exp`, `nonce`.
    const tokens = await client.authorizationCodeGrant(configuration, callback, {
      expectedState: state,
      expectedNonce: transaction.nonce,
      pkceCodeVerifier: transaction.verifier,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (!claims) throw new Error('no ID token');
    checkClaims(claims, { clientId, now: now() });
    return { tokens, claims };
  } catch (error) {
    // What exactly was wrong is nothing for the user's eyes: the log has the endpoint and the error code.
    throw new PartnerFailure('connection_failed', { cause: error });
  }
}

/** What the specification asks beyond openid-client: this client as the only audience, `iat`, `token_use`. */
function checkClaims(
  claims: client.IDToken,
  expected: { readonly clientId: string; readonly now: number },
): void {
  if (claims.aud !== expected.clientId) throw new Error('aud');
  if (claims.iat > expected.now / 1000 + clockToleranceSeconds) throw new Error('iat');
  if (claims.token_use !== 'id_token') throw new Error('token_use');
}

/**
 * The part of a token answer that is stored. Throws when the answer lacks what the contract promises;
 * `previous` is kept for display across a refresh, which brings no ID token.
 */
export function tokensOf(
  tokens: { access_token: string; refresh_token?: string; expires_in?: number },
  previous: Connection | undefined,
  now: number,
): Connection {
  if (!tokens.refresh_token || !tokens.expires_in) throw new PartnerFailure('connection_failed');
  return {
    accessToken: tokens.access_token,
    refreshToken: tokens.refresh_token,
    accessTokenExpiresAt: now + tokens.expires_in * 1000,
    refreshedAt: now,
    name: previous?.name,
    email: previous?.email,
  };
}

function textOf(claim: unknown): string | undefined {
  return typeof claim === 'string' && claim !== '' ? claim : undefined;
}
