// An authorization endpoint over real stores with a clock that the tests set, and one browser walking it.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Secret } from '@course-exchange/runtime/process/secret';
import { beforeEach } from 'vitest';
import { beginAuthorization } from '../../services/identity/src/authorize/begin.ts';
import type { PresentedForm } from '../../services/identity/src/authorize/form.ts';
import {
  accountFormToken,
  formToken,
  type InteractionCookie,
} from '../../services/identity/src/authorize/interaction.ts';
import { createInteractionSeal } from '../../services/identity/src/authorize/interaction-store.ts';
import { submitLogin } from '../../services/identity/src/authorize/login.ts';
import type { AuthorizationParameters } from '../../services/identity/src/authorize/request.ts';
import type { createAuthorizationHandlers } from '../../services/identity/src/authorize/rpc.ts';
import type { Sub } from '../../services/identity/src/ids.ts';
import {
  createHashingQueue,
  createPasswordVerifier,
  createRehash,
  hashPassword,
} from '../../services/identity/src/login/password.ts';
import { listPasswordForms } from '../../services/identity/src/users/user-table.ts';
import { addUser, type Endpoint, keyEncryptionKey, redirectUri, useEndpoint } from './identity-grant.ts';

export type FlowDeps = Parameters<typeof createAuthorizationHandlers>[0];

export interface Person {
  readonly sub: Sub;
  readonly email: string;
}

interface LoginOptions {
  /** The default is the test's `person`, who types the right password on a fresh network. */
  readonly who?: Pick<Person, 'email'>;
  readonly typed?: string;
  readonly address?: string;
  readonly forgetMe?: boolean;
  readonly deviceCookie?: string;
  readonly cookieGone?: boolean;
  readonly by?: FlowDeps | undefined;
}

const password = 'grün auf Zeit 🐎';
const passwordHash = await hashPassword(password);

const plainRequest = {
  ...{ responseType: 'code', redirectUri, scope: 'openid email', state: 'a b', nonce: 'n' },
  ...{ codeChallenge: '', codeChallengeMethod: '', prompt: '', maxAge: '', loginHint: '' },
  ...{ idTokenHint: '', uiLocales: '', request: '', requestUri: '', responseMode: '' },
};

/**
 * The authorization endpoint for the tests of a file. Before each test, `partner` and `person` are new and the clock shows
 * the present.
 */
export async function useAuthorization(connections = 1, log: Partial<Endpoint['deps'] & FlowDeps> = {}) {
  const endpoint = await useEndpoint(connections, log);
  const { identity, redis, stores, exchange, refresh, request, issue } = endpoint;
  const clock = { now: Date.now() };
  const hashingQueue = createHashingQueue({ concurrency: 2, waiting: 100, longestWaitMs: 60_000 });
  const deps: FlowDeps = {
    ...endpoint.deps,
    database: identity.database,
    conduct: { ...endpoint.deps.conduct, onRequest: () => {} },
    ...log,
    now: () => clock.now,
    // As many looks as the service takes at what another holds, over a longer time: fifty racers are slow on a slow machine.
    sleep: (milliseconds: number) => sleep(4 * milliseconds),
    seal: createInteractionSeal([keyEncryptionKey]),
    randomBytes,
    rehash: createRehash(hashingQueue),
    verifyPassword: createPasswordVerifier({
      queue: hashingQueue,
      heldForms: () => listPasswordForms(identity.database),
      onUnverifiableForm: () => {},
    }),
    accountsKey: new Secret(Buffer.alloc(32)),
  };

  const addPerson = async (email = `Ada.${randomBytes(6).toString('hex')}@Example.org`): Promise<Person> => {
    return { sub: await addUser(identity, email, passwordHash), email };
  };
  const flow = { partner: endpoint.partner, person: await addPerson() };
  beforeEach(async () => {
    clock.now = Date.now();
    flow.partner = endpoint.partner;
    flow.person = await addPerson();
  });

  const begin = (changes: Partial<AuthorizationParameters> = {}, browserSession = '') =>
    beginAuthorization(deps, {
      parameters: { ...plainRequest, clientId: flow.partner.clientId, ...changes },
      repeated: [],
      browserSession,
    });

  /** Begins an interaction that needs a person; returns its form as the browser would send it. */
  const beginForm = async (...request: Parameters<typeof begin>): Promise<PresentedForm> => {
    const result = await begin(...request);
    if (result.kind !== 'interaction') throw new Error(`answered at once: ${result.location}`);
    const { interactionId, interactionCookie, login } = result;
    return {
      interactionId,
      sealedInteraction: login?.page.sealedInteraction ?? '',
      interactionCookie,
      formToken: formToken(interactionCookie, 'form'),
      browserSession: request[1] ?? '',
    };
  };

  const logIn = (form: PresentedForm, options: LoginOptions = {}) => {
    const { who = flow.person, by = deps, typed = password, address = freshAddress(), ...more } = options;
    const typedIn = { email: who.email, password: typed, clientAddress: address };
    return submitLogin(by, {
      ...form,
      ...typedIn,
      forgetMe: false,
      deviceCookie: '',
      cookieGone: false,
      ...more,
    });
  };

  /** Logs in and returns the form as the browser would send it next: of a stored interaction, with the new session. */
  const signIn = async (form: PresentedForm, person = flow.person): Promise<PresentedForm> => {
    const outcome = await logIn(form, { who: person });
    if (outcome.kind !== 'accepted') throw new Error(`login ended as ${outcome.kind}`);
    const { browserSession } = outcome;
    const token = accountFormToken(form.interactionCookie as InteractionCookie, person.sub);
    return { ...form, sealedInteraction: '', browserSession, formToken: token };
  };

  return Object.assign(flow, {
    ...{ identity, redis, exchange, refresh, request, issue },
    ...{ clock, deps, addPerson, begin, beginForm, logIn, signIn },
    /** One for each connection. They stand for callers, not for processes: they share one password queue. */
    browsers: stores.map((store) => ({ ...deps, redis: store })),
    /** Signs in with a new interaction; returns the cookie of the session. */
    newSession: async (person = flow.person) => (await signIn(await beginForm(), person)).browserSession,
  });
}

/** An address in a /48 that no other test uses: 40 random bits, as in RFC 4193. */
export function freshAddress(): string {
  const hex = randomBytes(7).toString('hex');
  return `fd${hex.slice(0, 2)}:${hex.slice(2, 6)}:${hex.slice(6, 10)}:${hex.slice(10)}::1`;
}

export function recordKey({ interactionId }: Pick<PresentedForm, 'interactionId'>): string {
  return `interaction:{all}:${interactionId}`;
}

/** What a refused login tells, in part. */
export const throttled = { reason: 'throttled' };
export const throttledFor = (retryAfterSeconds: number) => ({ ...throttled, retryAfterSeconds });
export const wrongPassword = { reason: 'credentials' };
export const accepted = { kind: 'accepted' };

export function answerOf(answer: object): URLSearchParams {
  const location = 'location' in answer ? String(answer.location) : '';
  if (!location.startsWith(`${redirectUri}?`))
    throw new Error(`no answer to the partner: ${JSON.stringify(answer)}`);
  return new URLSearchParams(location.slice(redirectUri.length));
}
