// Joins the authorization steps with their stores; a part of main.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Secret } from '@course-exchange/runtime/secret';
import type { AuthorizationDependencies } from './authorization/dependencies.ts';
import { accountKey } from './domain/login-form.ts';
import { newSecret } from './domain/secrets.ts';
import type { TokenEndpoint } from './grants/token-endpoint.ts';
import { createHashingQueue } from './passwords/hashing-queue.ts';
import { createPasswordVerifier } from './passwords/password-hash.ts';
import { renewPasswordHash } from './passwords/password-renewal.ts';
import { readIdTokenHint } from './signing/id-token.ts';
import { findClient } from './store/postgres/clients.ts';
import { findConsent, grantConsent } from './store/postgres/consents.ts';
import { findUser, findUserByEmail } from './store/postgres/users.ts';
import { createAuthorizationCode } from './store/redis/authorization-codes.ts';
import { createSession, endSession, findSession, touchSession } from './store/redis/browser-sessions.ts';
import { createInteraction, findInteraction, replaceInteraction } from './store/redis/interactions.ts';
import { admitLogin, recordLoginFailure, releaseLogin } from './store/redis/login-failures.ts';

/** Logins that may wait for each one being hashed: about five seconds of waiting, half of R14's ten. */
const waitingPerHash = 50;

/** `hashingConcurrency`: passwords hashed at the same time. `accountsKey` keys the names of counted accounts. */
export async function openAuthorization(
  { database, redis, tokens, now, randomBytes }: TokenEndpoint,
  hashingConcurrency: number,
  accountsKey: Secret<Buffer>,
): Promise<AuthorizationDependencies> {
  const limits = { concurrency: hashingConcurrency, waiting: hashingConcurrency * waitingPerHash };
  const inTurn = createHashingQueue(limits);
  return {
    now,
    randomBytes,
    accountKey: (email) => accountKey(accountsKey.reveal(), email),
    sleep: (milliseconds) => sleep(milliseconds),
    verifyPassword: await createPasswordVerifier(inTurn, () => newSecret(randomBytes), {
      now,
      sleep: (milliseconds) => sleep(milliseconds),
    }),
    renewPasswordHash: (user, password) => renewPasswordHash(database, inTurn, user, password),
    readIdTokenHint: (idToken, clientId) => readIdTokenHint(tokens, idToken, clientId),

    findClient: (clientId) => findClient(database, clientId),
    findUser: (sub) => findUser(database, sub),
    findUserByEmail: (email) => findUserByEmail(database, email),
    findConsent: (sub, clientId) => findConsent(database, sub, clientId),
    grantConsent: (newConsentId, agreement) => grantConsent(database, newConsentId, agreement),

    createAuthorizationCode: (code) => createAuthorizationCode(redis, code),
    createInteraction: (interaction) => createInteraction(redis, interaction),
    findInteraction: (id) => findInteraction(redis, id),
    replaceInteraction: (held, next) => replaceInteraction(redis, held, next),
    createSession: (cookie, session) => createSession(redis, cookie, session),
    findSession: (cookie, at) => findSession(redis, cookie, at),
    touchSession: (cookie, session, at) => touchSession(redis, cookie, session, at),
    endSession: (cookie) => endSession(redis, cookie),
    admitLogin: (attempt, at) => admitLogin(redis, attempt, at),
    recordLoginFailure: (attempt, at) => recordLoginFailure(redis, attempt, at),
    releaseLogin: (attempt, outcome) => releaseLogin(redis, attempt, outcome),
  };
}
