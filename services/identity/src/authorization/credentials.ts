// Whether e-mail and password are those of somebody who may sign in, under the login defence (R18, R30).
// Every way to "wrong" takes the same steps and so the same time: unknown e-mail, wrong password, disabled
// account.
import { unavailable } from '@course-exchange/runtime/failure';
import { secondsToWait } from '../domain/login-throttle.ts';
import { networkOf } from '../domain/network.ts';
import type { User } from '../store/postgres/users.ts';
import type { LoginAttempt } from '../store/redis/login-failures.ts';
import type { AuthorizationDependencies } from './dependencies.ts';

export type CredentialsNeeds = Pick<
  AuthorizationDependencies,
  | 'now'
  | 'randomBytes'
  | 'accountKey'
  | 'sleep'
  | 'findUserByEmail'
  | 'verifyPassword'
  | 'renewPasswordHash'
  | 'admitLogin'
  | 'recordLoginFailure'
  | 'releaseLogin'
>;

export interface Credentials {
  readonly email: string;
  readonly password: string;
  /** The user's address; anything else than an address counts as one unknown network. */
  readonly clientAddress: string;
}

export type CredentialsCheck =
  | { readonly kind: 'accepted'; readonly user: User }
  | { readonly kind: 'wrong' }
  | { readonly kind: 'throttled'; readonly retryAfterSeconds: number };

/** Looks at the password unless a delay runs. Throws `temporarily_unavailable`, and counts nothing then. */
export async function checkCredentials(
  deps: CredentialsNeeds,
  credentials: Credentials,
): Promise<CredentialsCheck> {
  const attempt: LoginAttempt = {
    id: deps.randomBytes(16).toString('base64url'),
    account: deps.accountKey(credentials.email),
    network: networkOf(credentials.clientAddress),
  };
  const waitMs = await admit(deps, attempt);
  if (waitMs > 0) return { kind: 'throttled', retryAfterSeconds: secondsToWait(waitMs) };
  const user = await lookAt(deps, credentials).catch(async (error: unknown) => {
    // Lost when Redis is what failed: the place then comes free by itself.
    await deps.releaseLogin(attempt, 'unseen').catch(() => undefined);
    throw error;
  });
  if (user === undefined) {
    await deps.recordLoginFailure(attempt, deps.now());
    return { kind: 'wrong' };
  }
  await deps.releaseLogin(attempt, 'succeeded');
  return { kind: 'accepted', user };
}

/** Milliseconds between two looks for a free place, and how often it is looked for. */
const admissionPollMs = 50;
const admissionPolls = 40;

/**
 * Takes a place for the attempt; 0 when it has one, else the milliseconds to wait. Where the places are taken
 * by attempts still being looked at, it waits for them: one person's several right logins at once all pass.
 */
async function admit(deps: CredentialsNeeds, attempt: LoginAttempt): Promise<number> {
  for (let poll = 0; poll < admissionPolls; poll += 1) {
    const admission = await deps.admitLogin(attempt, deps.now());
    if (admission.kind === 'admitted') return 0;
    if (admission.kind === 'delayed') return admission.waitMs;
    await deps.sleep(admissionPollMs);
  }
  throw unavailable('a place to log in');
}

async function lookAt(
  { findUserByEmail, verifyPassword, renewPasswordHash }: CredentialsNeeds,
  { email, password }: Credentials,
): Promise<User | undefined> {
  const user = await findUserByEmail(email);
  const matches = await verifyPassword(user?.passwordHash, password, user?.disabled === false);
  if (!matches || user === undefined) return undefined;
  await renewPasswordHash(user, password);
  return user;
}
