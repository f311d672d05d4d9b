// An authorization endpoint over real stores with a clock that the tests set, and one browser walking it.
import { randomBytes } from 'node:crypto';
import { Secret } from '@course-exchange/runtime/secret';
import {
  type Beginning,
  beginAuthorization,
} from '../../services/identity/src/authorization/begin-authorization.ts';
import type { AuthorizationDependencies } from '../../services/identity/src/authorization/dependencies.ts';
import type { PresentedForm } from '../../services/identity/src/authorization/held-form.ts';
import { type LoginOutcome, submitLogin } from '../../services/identity/src/authorization/submit-login.ts';
import { openAuthorization } from '../../services/identity/src/authorization-endpoint.ts';
import type { AuthorizationParameters } from '../../services/identity/src/domain/authorization-parameters.ts';
import { formToken } from '../../services/identity/src/domain/binding.ts';
import type { ClientId, Sub } from '../../services/identity/src/domain/ids.ts';
import type { TokenEndpoint } from '../../services/identity/src/grants/token-endpoint.ts';
import { hashPassword } from '../../services/identity/src/passwords/password-hash.ts';
import type { ReplicatedStore } from '../../services/identity/src/store/redis/replication.ts';
import { redirectUri } from './identity-grant.ts';
import type { IdentityDatabase } from './identity-stores.ts';

export const password = 'grün auf Zeit 🐎';
const passwordHash = await hashPassword(password);

/** Milliseconds since the epoch, as the endpoint sees them. */
export interface Clock {
  now: number;
}

/** One endpoint for each connection, all of one clock and one password queue. */
export async function openAuthorizations(
  endpoint: TokenEndpoint,
  connections: readonly ReplicatedStore[],
  clock: Clock,
): Promise<AuthorizationDependencies[]> {
  const opened = connections.map((redis) =>
    openAuthorization({ ...endpoint, redis, now: () => clock.now }, 2, new Secret(Buffer.alloc(32))),
  );
  const all = await Promise.all(opened);
  // The queue is one process's: the connections stand for callers, not for processes.
  return all.map((deps) => ({ ...deps, verifyPassword: all[0]?.verifyPassword ?? deps.verifyPassword }));
}

export interface Person {
  readonly sub: Sub;
  readonly email: string;
}

/** A user who signs in with `password`. */
export async function addPerson({ sql }: IdentityDatabase): Promise<Person> {
  const sub = randomBytes(16).toString('base64url') as Sub;
  const email = `Ada.${randomBytes(6).toString('hex')}@Example.org`;
  await sql('insert into users (sub, email, name, password_hash) values ($1, $2, $3, $4)', [
    sub,
    email,
    'Ada',
    passwordHash,
  ]);
  return { sub, email };
}

/** A network of its own for each test, so that failures of one do not delay another. */
export function freshAddress(): string {
  return `2001:db8:${randomBytes(2).toString('hex')}:${randomBytes(2).toString('hex')}::1`;
}

function parametersOf(
  clientId: ClientId,
  changes: Partial<AuthorizationParameters> = {},
): AuthorizationParameters {
  return {
    ...{ responseType: 'code', clientId, redirectUri, scope: 'openid email', state: 'a b', nonce: 'n' },
    ...{ codeChallenge: '', codeChallengeMethod: '', prompt: '', maxAge: '', loginHint: '' },
    ...{ idTokenHint: '', uiLocales: '', request: '', requestUri: '', responseMode: '' },
    ...changes,
  };
}

export function begin(
  deps: AuthorizationDependencies,
  clientId: ClientId,
  changes: Partial<AuthorizationParameters> = {},
  browserSession = '',
): Promise<Beginning> {
  return beginAuthorization(deps, {
    parameters: parametersOf(clientId, changes),
    repeated: [],
    browserSession,
  });
}

/** Begins a transaction that needs a person; returns its form as the browser would send it. */
export async function beginForm(
  deps: AuthorizationDependencies,
  clientId: ClientId,
  changes: Partial<AuthorizationParameters> = {},
  browserSession = '',
): Promise<PresentedForm> {
  const beginning = await begin(deps, clientId, changes, browserSession);
  if (beginning.kind !== 'interaction') throw new Error(`answered at once: ${beginning.location}`);
  const { interactionId, binding } = beginning;
  return { interactionId, binding, formToken: formToken(binding, 'form'), browserSession };
}

export function logIn(
  deps: AuthorizationDependencies,
  form: PresentedForm,
  { email }: Pick<Person, 'email'>,
  { typed = password, address = freshAddress(), forgetMe = false } = {},
): Promise<LoginOutcome> {
  return submitLogin(deps, { ...form, email, password: typed, forgetMe, clientAddress: address });
}

/** Logs in and returns the form as the browser would send it next: with the new session. */
export async function signIn(
  deps: AuthorizationDependencies,
  form: PresentedForm,
  person: Person,
): Promise<PresentedForm> {
  const outcome = await logIn(deps, form, person);
  if (outcome.kind !== 'accepted') throw new Error(`login ended as ${outcome.kind}`);
  return { ...form, browserSession: outcome.browserSession };
}

/** Counts the passwords that are looked at. */
export function counting(all: AuthorizationDependencies[]) {
  const seen = { passwords: 0 };
  const counted = all.map((one) => ({
    ...one,
    verifyPassword: (hash: string | undefined, typed: string, mayLogIn?: boolean) => {
      seen.passwords += 1;
      return one.verifyPassword(hash, typed, mayLogIn);
    },
  }));
  return { seen, counted };
}

/** Signs in by a transaction of its own; the cookie of the session. */
export async function sessionOf(
  deps: AuthorizationDependencies,
  clientId: ClientId,
  person: Person,
): Promise<string> {
  const outcome = await logIn(deps, await beginForm(deps, clientId), person);
  if (!('browserSession' in outcome)) throw new Error(`login ended as ${outcome.kind}`);
  return outcome.browserSession;
}

/** What a redirect carries to the partner. */
export function answerOf(answer: object): URLSearchParams {
  const location = 'location' in answer ? String(answer.location) : '';
  if (!location.startsWith(`${redirectUri}?`))
    throw new Error(`no answer to the partner: ${JSON.stringify(answer)}`);
  return new URLSearchParams(location.slice(redirectUri.length));
}
