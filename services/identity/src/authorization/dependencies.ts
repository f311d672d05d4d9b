// What the authorization steps need from the floors below. Each step picks the few functions that it calls;
// `main` gives them all.

import type { BrowserSession } from '../domain/browser-session.ts';
import type { ClientId, ConsentId, RandomBytes, Sub } from '../domain/ids.ts';
import type { Interaction } from '../domain/interaction.ts';
import type { Scope } from '../domain/scope.ts';
import type { VerifyPassword } from '../passwords/password-hash.ts';
import type { RenewPasswordHash } from '../passwords/password-renewal.ts';
import type { Client } from '../store/postgres/clients.ts';
import type { Consent } from '../store/postgres/consents.ts';
import type { User, UserWithPassword } from '../store/postgres/users.ts';
import type { AuthorizationCode } from '../store/redis/authorization-codes.ts';
import type { HeldInteraction } from '../store/redis/interactions.ts';
import type { Admission, LoginAttempt } from '../store/redis/login-failures.ts';

/** Every store function throws `temporarily_unavailable` when its store does not answer (R14). */
export interface AuthorizationDependencies {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly randomBytes: RandomBytes;
  readonly sleep: (milliseconds: number) => Promise<void>;

  readonly findClient: (clientId: string) => Promise<Client | undefined>;
  readonly findUser: (sub: Sub) => Promise<User | undefined>;
  readonly findUserByEmail: (email: string) => Promise<UserWithPassword | undefined>;
  readonly findConsent: (sub: Sub, clientId: ClientId) => Promise<Consent | undefined>;
  readonly grantConsent: (
    newConsentId: ConsentId,
    agreement: { sub: Sub; clientId: ClientId; scopes: readonly Scope[] },
  ) => Promise<Consent>;

  /** False when the family has a code or had one; then nothing was written. */
  readonly createAuthorizationCode: (code: AuthorizationCode) => Promise<boolean>;
  readonly readIdTokenHint: ReadIdTokenHint;

  readonly createInteraction: (interaction: Interaction) => Promise<void>;
  readonly findInteraction: (id: string) => Promise<HeldInteraction | undefined>;
  readonly replaceInteraction: (
    held: HeldInteraction,
    next: Interaction,
  ) => Promise<HeldInteraction | undefined>;

  readonly createSession: (cookie: string, session: BrowserSession) => Promise<void>;
  readonly findSession: (cookie: string, now: number) => Promise<BrowserSession | undefined>;
  readonly touchSession: (cookie: string, session: BrowserSession, now: number) => Promise<boolean>;
  readonly endSession: (cookie: string) => Promise<void>;

  /** Names an account's failures without naming its e-mail (R30). */
  readonly accountKey: (email: string) => string;
  readonly verifyPassword: VerifyPassword;
  readonly renewPasswordHash: RenewPasswordHash;
  readonly admitLogin: (attempt: LoginAttempt, now: number) => Promise<Admission>;
  readonly recordLoginFailure: (attempt: LoginAttempt, now: number) => Promise<void>;
  readonly releaseLogin: (attempt: LoginAttempt, outcome: 'succeeded' | 'unseen') => Promise<void>;
}

/**
 * The user that an ID token of ours names. Undefined unless one of our keys signed it, its issuer is ours,
 * its audience is `clientId` and its `token_use` is `id_token`. Its expiry does not matter (R5).
 */
type ReadIdTokenHint = (idToken: string, clientId: ClientId) => Sub | undefined;
