// An authorization endpoint over real stores with a clock that the tests set, and one browser walking it.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Secret } from '@course-exchange/runtime/process/secret';
import { beforeEach } from 'vitest';
import { type AuthorizeResult, beginAuthorization } from '../../services/identity/src/authorize/begin.ts';
import type { PresentedForm } from '../../services/identity/src/authorize/form.ts';
import { formToken } from '../../services/identity/src/authorize/interaction.ts';
import { createInteractionSeal } from '../../services/identity/src/authorize/interaction-store.ts';
import { type LoginOutcome, submitLogin } from '../../services/identity/src/authorize/login.ts';
import type { AuthorizationParameters } from '../../services/identity/src/authorize/request.ts';
import type { createAuthorizationHandlers } from '../../services/identity/src/authorize/rpc.ts';
import type { ClientId, Sub } from '../../services/identity/src/ids.ts';
import {
  createHashingQueue,
  createPasswordVerifier,
  createRehash,
  hashPassword,
  type PasswordCheck,
} from '../../services/identity/src/login/password.ts';
import { listPasswordForms } from '../../services/identity/src/users/user-table.ts';
import { addUser, keyEncryptionKey, redirectUri, useEndpoint } from './identity-grant.ts';
import type { IdentityDatabase } from './postgres.ts';

/** What the whole flow needs. */
export type FlowDeps = Parameters<typeof createAuthorizationHandlers>[0];

const password = 'grün auf Zeit 🐎';
const passwordHash = await hashPassword(password);

/** The authorization endpoint for the tests of this file, by a clock that each test starts anew. */
export async function useAuthorization(connections = 1) {
  const { identity, redis, stores, endpoint } = await useEndpoint(connections);
  const clock = { now: Date.now() };
  beforeEach(() => {
    clock.now = Date.now();
  });
  // As many looks as the service takes at what another holds, over a longer time: fifty racers are slow on a slow machine.
  const pace = { now: () => clock.now, sleep: (milliseconds: number) => sleep(4 * milliseconds) };
  const hashingQueue = createHashingQueue({ concurrency: 2, waiting: 100, longestWaitMs: 60_000 });
  const verifyPassword = createPasswordVerifier(hashingQueue, () => listPasswordForms(identity.database));
  const accountsKey = new Secret(Buffer.alloc(32));
  const deps: FlowDeps = {
    ...endpoint,
    ...pace,
    seal: createInteractionSeal([keyEncryptionKey]),
    randomBytes,
    rehash: createRehash(hashingQueue),
    verifyPassword,
    accountsKey,
  };
  // The connections stand for callers, not for processes: they share one password queue.
  const browsers = stores.map((store) => ({ ...deps, redis: store }));
  return { identity, redis, endpoint, clock, deps, browsers };
}

export interface Person {
  readonly sub: Sub;
  readonly email: string;
}

/** A user who signs in with `password`. */
export async function addPerson(identity: IdentityDatabase): Promise<Person> {
  const email = `Ada.${randomBytes(6).toString('hex')}@Example.org`;
  return { sub: await addUser(identity, email, passwordHash), email };
}

/** An address whose /48, too, nobody else has: 40 random bits, those of RFC 4193. */
export function freshAddress(): string {
  const hex = randomBytes(7).toString('hex');
  return `fd${hex.slice(0, 2)}:${hex.slice(2, 6)}:${hex.slice(6, 10)}:${hex.slice(10)}::1`;
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
  deps: FlowDeps,
  clientId: ClientId,
  changes: Partial<AuthorizationParameters> = {},
  browserSession = '',
): Promise<AuthorizeResult> {
  return beginAuthorization(deps, {
    parameters: parametersOf(clientId, changes),
    repeated: [],
    browserSession,
  });
}

/** Begins an interaction that needs a person; returns its form as the browser would send it. */
export async function beginForm(
  deps: FlowDeps,
  clientId: ClientId,
  changes: Partial<AuthorizationParameters> = {},
  browserSession = '',
): Promise<PresentedForm> {
  const result = await begin(deps, clientId, changes, browserSession);
  if (result.kind !== 'interaction') throw new Error(`answered at once: ${result.location}`);
  const { interactionId, interactionCookie, login } = result;
  return {
    interactionId,
    sealedInteraction: login?.page.sealedInteraction ?? '',
    interactionCookie,
    formToken: formToken(interactionCookie, 'form'),
    browserSession,
  };
}

/** Of the stored interaction of a form. */
export function recordKey({ interactionId }: Pick<PresentedForm, 'interactionId'>): string {
  return `interaction:{all}:${interactionId}`;
}

export function logIn(
  deps: FlowDeps,
  form: PresentedForm,
  { email }: Pick<Person, 'email'>,
  { typed = password, address = freshAddress(), forgetMe = false, deviceCookie = '' } = {},
): Promise<LoginOutcome> {
  const credentials = { email, password: typed, forgetMe, clientAddress: address, deviceCookie };
  return submitLogin(deps, { ...form, ...credentials });
}

/** What a refused login tells, in part. */
export const throttled = { reason: 'throttled' };
export const throttledFor = (retryAfterSeconds: number) => ({ ...throttled, retryAfterSeconds });
export const wrongPassword = { reason: 'credentials' };

/** Logs in and returns the form as the browser would send it next: of a stored interaction, with the new session. */
export async function signIn(deps: FlowDeps, form: PresentedForm, person: Person): Promise<PresentedForm> {
  const outcome = await logIn(deps, form, person);
  if (outcome.kind !== 'accepted') throw new Error(`login ended as ${outcome.kind}`);
  return { ...form, sealedInteraction: '', browserSession: outcome.browserSession };
}

/** Counts the passwords that are verified. */
export function counting(all: FlowDeps[]) {
  const seen = { passwords: 0 };
  const counted = all.map((one) => ({
    ...one,
    verifyPassword: (check: PasswordCheck) => {
      seen.passwords += 1;
      return one.verifyPassword(check);
    },
  }));
  return { seen, counted };
}

/** Signs in by an interaction of its own; the cookie of the session. */
export async function sessionOf(deps: FlowDeps, clientId: ClientId, person: Person): Promise<string> {
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
