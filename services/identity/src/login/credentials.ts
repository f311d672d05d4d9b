// login/ decides whether e-mail and password are those of somebody who may sign in, and bounds who may try: throttle, hashing queue,
// and equal work for every account. Sessions and what follows a login are in authorize/.

// A login: whether e-mail and password are those of somebody who may sign in, behind the throttle.
//
//   attempt → admitted → verified → accepted | wrong (counts as a failure)
//           → throttled: no password is verified until the delay is over (R30.2)
//
// Unknown e-mail, wrong password and disabled account take the same steps, and so the same time (R18.5).
import { emailKey } from '@course-exchange/rules/email';
import type { Queries } from '@course-exchange/runtime/postgres/pool';
import { Overloaded, type OverloadReason } from '@course-exchange/runtime/process/errors';
import { networksOf } from '@course-exchange/runtime/process/ip-address';
import type { Secret } from '@course-exchange/runtime/process/secret';
import type { ClientId, RandomBytes, Sub } from '../ids.ts';
import type { RedisStore } from '../redis/connect.ts';
import type { RequestLog } from '../request-log.ts';
import { newSecret } from '../secrets.ts';
import type { ReasonOf } from '../security-events.ts';
import type { User } from '../users/user.ts';
import { findSettledUser, findUserByEmail, replacePasswordHash, setEmailKeys } from '../users/user-table.ts';
import type { Rehash, VerifyPassword } from './password.ts';
import { accountKey, originKey, secondsToWait } from './throttle.ts';
import {
  admitLogin,
  findKnownOrigins,
  type LoginAttempt,
  type LoginDelay,
  recordLoginFailure,
  releaseLogin,
  rememberOrigins,
} from './throttle-store.ts';

export interface LoginDeps extends Pick<RequestLog, 'observe'> {
  readonly database: Queries;
  readonly redis: RedisStore;
  readonly now: () => number;
  readonly randomBytes: RandomBytes;
  readonly sleep: (milliseconds: number) => Promise<void>;
  readonly verifyPassword: VerifyPassword;
  readonly rehash: Rehash;
  /** Keys the names of accounts in the throttle's store. */
  readonly accountsKey: Secret<Buffer>;
}

export interface Credentials {
  readonly email: string;
  readonly password: string;
  readonly clientAddress: string;
  /** Shows an earlier login to an account; may be empty. */
  readonly deviceCookie: string;
  /** "Shared computer: do not keep me signed in" (R29.7). */
  readonly forgetMe: boolean;
}

/** Characters (RFC 5321 leaves 254). */
const longestEmail = 254;
const longestPassword = 1024;

/** Trimmed: phone keyboards add spaces. */
export function readEmail(typed: string): string {
  return typed.trim();
}

export function isComplete(email: string, password: string): boolean {
  const fits = email.length <= longestEmail && Buffer.byteLength(password) <= longestPassword;
  return email !== '' && password !== '' && fits;
}

export interface RejectedCredentials {
  readonly kind: 'rejected';
  readonly reason: 'credentials' | 'throttled' | 'incomplete';
  /** 0 unless throttled. */
  readonly retryAfterSeconds: number;
  /** The delay is for failures from anywhere (R30.16). */
  readonly accountAttacked: boolean;
}

function rejected(reason: RejectedCredentials['reason'], delayed?: LoginDelay): RejectedCredentials {
  const retryAfterSeconds = delayed ? secondsToWait(delayed.delay) : 0;
  return { kind: 'rejected', reason, retryAfterSeconds, accountAttacked: delayed?.accountAttacked ?? false };
}

export interface AcceptedCredentials {
  readonly kind: 'accepted';
  readonly user: User;
  /** Milliseconds since the epoch: a later sign-out ends this login. */
  readonly loggedInAt: number;
  /** Empty when the browser is not to be remembered. */
  readonly deviceCookie: string;
}

/** Unless a delay runs. Throws `temporarily_unavailable`, and counts nothing then. */
export async function checkCredentials(
  deps: LoginDeps,
  credentials: Credentials,
  client: ClientId,
): Promise<AcceptedCredentials | RejectedCredentials> {
  const { password } = credentials;
  const email = readEmail(credentials.email);
  const origin = { client, network: networksOf(credentials.clientAddress)[0] };
  if (!isComplete(email, password)) {
    deps.observe({ event: 'login.refused', ...origin, reason: 'incomplete' });
    return rejected('incomplete');
  }
  const attempt = await beginAttempt(deps, email, credentials);
  const admission = await admit(deps, attempt);
  if (typeof admission === 'object') {
    deps.observe({ event: 'login.throttled', ...origin });
    return rejected('throttled', admission);
  }
  const isSuspect = admission === 'suspect';
  const verified = await verifyUser(deps, email, password, isSuspect).catch(async (error: unknown) => {
    // Lost if Redis fails: the permit then expires.
    await releaseLogin(deps.redis, attempt, 'not_evaluated').catch(() => undefined);
    throw error;
  });
  const known = { ...origin, sub: verified.user?.sub };
  if (verified.kind === 'refused') {
    await recordLoginFailure(deps.redis, attempt, deps.now());
    deps.observe({ event: 'login.refused', ...known, reason: verified.reason });
    return rejected('credentials');
  }
  await releaseLogin(deps.redis, attempt, 'succeeded');
  deps.observe({ event: 'login.accepted', ...known });
  const { user, loggedInAt } = verified;
  return { kind: 'accepted', user, loggedInAt, deviceCookie: await remember(deps, attempt, credentials) };
}

async function beginAttempt(
  deps: LoginDeps,
  email: string,
  { clientAddress, deviceCookie }: Credentials,
): Promise<LoginAttempt> {
  const key = deps.accountsKey.reveal();
  const account = accountKey(key, email);
  const networks = networksOf(clientAddress);
  const device = originKey(key, account, 'device', deviceCookie);
  const origins = [originKey(key, account, 'network', networks[0]), device];
  const [knownNetwork = false, isKnown] = await findKnownOrigins(deps.redis, account, origins, deps.now());
  const id = deps.randomBytes(16).toString('base64url');
  return { id, account, networks, knownNetwork, ...(isKnown && { knownDevice: device }) };
}

/** An unknown cookie is replaced: it may have been planted. */
async function remember(
  deps: LoginDeps,
  { account, networks, knownDevice }: LoginAttempt,
  { deviceCookie: presented, forgetMe }: Credentials,
): Promise<string> {
  const key = deps.accountsKey.reveal();
  const kept = knownDevice === undefined ? newSecret(deps.randomBytes) : presented;
  const deviceCookie = forgetMe ? '' : kept;
  const origins = [originKey(key, account, 'network', networks[0])];
  if (!forgetMe) origins.push(originKey(key, account, 'device', deviceCookie));
  await rememberOrigins(deps.redis, account, origins, deps.now());
  return deviceCookie;
}

const pollMs = 50;
const polls = 40;

async function polled<T>(
  { sleep }: LoginDeps,
  attempt: () => Promise<T | undefined>,
  reason: OverloadReason,
): Promise<T> {
  for (let poll = 0; poll < polls; poll += 1) {
    const given = await attempt();
    if (given !== undefined) return given;
    await sleep(pollMs);
  }
  throw new Overloaded(reason);
}

/** Waits for permits in flight: several correct concurrent logins of one user all pass. */
function admit(deps: LoginDeps, attempt: LoginAttempt) {
  const permit = async () => {
    const admission = await admitLogin(deps.redis, attempt, deps.now());
    return admission === 'busy' ? undefined : admission;
  };
  return polled(deps, permit, 'no_login_permit');
}

const verifications = 5;

type Verified =
  | { readonly kind: 'refused'; readonly user?: User; readonly reason: ReasonOf<'login.refused'> }
  | { readonly kind: 'matched'; readonly user: User; readonly loggedInAt: number };

async function verifyUser(
  deps: LoginDeps,
  email: string,
  password: string,
  isSuspect: boolean,
): Promise<Verified> {
  for (let nth = 0; nth < verifications; nth += 1) {
    const verified = await verifyOnce(deps, email, password, isSuspect);
    if (verified) return verified;
  }
  throw new Overloaded('user_keeps_changing');
}

const reasons = { differs: 'wrong_password', unverifiable: 'unverifiable_hash' } as const;

/** Undefined when the user changed meanwhile: the password may be the old one. */
async function verifyOnce(
  deps: LoginDeps,
  email: string,
  password: string,
  isSuspect: boolean,
): Promise<Verified | undefined> {
  const user = await findUserByEmail(deps.database, email);
  const { passwordHash, disabled: isDisabled } = user ?? { passwordHash: undefined, disabled: true };
  const verdict = await deps.verifyPassword({ password, passwordHash, isDisabled, isSuspect });
  if (user === undefined) return { kind: 'refused', reason: 'unknown_user' };
  if (typeof verdict === 'string')
    return { kind: 'refused', user, reason: user.disabled ? 'user_disabled' : reasons[verdict] };
  const { settled, loggedInAt } = await settle(deps, user.sub);
  const { signedOutAt, importedHash } = user;
  if (settled.signedOutAt !== signedOutAt || settled.importedHash !== importedHash || settled.disabled)
    return undefined;
  // Not awaited: queueing again could exceed the login's deadline.
  void renewPasswordHash(deps, user, verdict.matched);
  if (user.emailKey !== emailKey(user.email)) void setEmailKeys(deps.database, [user]).catch(() => {});
  return { kind: 'matched', user, loggedInAt };
}

/** Waits for changes of the user in flight. A later one ends the login. */
function settle(deps: LoginDeps, sub: Sub) {
  const unchanged = async () => {
    const loggedInAt = deps.now();
    const settled = await findSettledUser(deps.database, sub);
    return settled && { settled, loggedInAt };
  };
  return polled(deps, unchanged, 'user_keeps_changing');
}

/** Atomic. Never rejects: the next login tries again. */
export async function renewPasswordHash(
  { database, rehash }: Pick<LoginDeps, 'database' | 'rehash'>,
  { sub, passwordHash }: { readonly sub: Sub; readonly passwordHash: string },
  matched: string,
): Promise<void> {
  try {
    const renewed = await rehash(passwordHash, matched);
    if (renewed) await replacePasswordHash(database, sub, passwordHash, renewed);
  } catch {}
}
