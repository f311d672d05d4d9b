// What a token request points at, read but not yet judged: the client is authenticated first (R8), and one
// statement answers for client and grant together.
import type { ConsentId } from '../domain/ids.ts';
import type { ClientStanding, GrantStanding } from '../store/postgres/grant-standing.ts';

/** A successful token response (specification §4). */
export interface TokenResponse {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Seconds. */
  readonly expiresIn: number;
  readonly scope: string;
  readonly idToken?: string;
}

export interface PresentedGrant {
  /** Under which the code or token was issued; null when there is no such record. */
  readonly consentId: ConsentId | null;
  /** Checks the grant for the authenticated `client` and consumes it. Throws `Failure`. */
  readonly redeem: (client: ClientStanding, grant: GrantStanding | undefined) => Promise<TokenResponse>;
}
