// Starts an authorization request: refused directly, answered by redirect, or shown as an interaction.
import type { Client } from '../clients/client.ts';
import { findClient } from '../clients/client-table.ts';
import { findConsent } from '../consents/consent-table.ts';
import type { ClientId } from '../ids.ts';
import { hashSecret, newSecret } from '../secrets.ts';
import { readIdTokenHint, type TokenIssuer } from '../token/jwt.ts';
import { issueCode } from './finish.ts';
import {
  deriveCode,
  type Interaction,
  type InteractionCookie,
  interactionValidMs,
  isComplete,
  type Page,
  pageOf,
  type Subject,
} from './interaction.ts';
import { createInteraction } from './interaction-store.ts';
import { type LoginPage, loginPage } from './page.ts';
import {
  type AuthorizationParameters,
  type AuthorizationRequest,
  acceptsSession,
  checkDirectly,
  checkRedirected,
  checkRepetition,
} from './request.ts';
import { codeRedirect, type PartnerRedirect, refuseByRedirect, refuseDirectly } from './response.ts';
import { touchSession } from './session-store.ts';
import { findSignedIn, type StepDeps } from './signed-in-user.ts';

export interface BeginDeps extends StepDeps {
  readonly tokens: TokenIssuer;
  readonly conduct: { readonly onRequest: (clientId: ClientId) => void };
}

interface ReceivedRequest {
  readonly parameters: AuthorizationParameters;
  readonly repeated: readonly string[];
  readonly notUtf8?: readonly string[];
  readonly browserSession: string;
}

export interface StartedInteraction {
  readonly kind: 'interaction';
  readonly interactionId: string;
  readonly interactionCookie: InteractionCookie;
  readonly expiresIn: number;
  readonly page: Page;
  /** Shown at once: the form holds the interaction, no store does. */
  readonly login?: LoginPage;
}

export type AuthorizeResult = PartnerRedirect | StartedInteraction;

/** Throws a Refusal that is answered directly (R1.1). */
export async function beginAuthorization(
  deps: BeginDeps,
  received: ReceivedRequest,
): Promise<AuthorizeResult> {
  const { parameters, repeated, notUtf8, browserSession } = received;
  const { clientId: claimed } = parameters;
  refuseDirectly(deps, undefined, () => checkRepetition(repeated), claimed);
  const client = claimed ? await findClient(deps.database, claimed) : undefined;
  const check = () => checkDirectly(parameters, client, notUtf8);
  const trusted = refuseDirectly(deps, client?.clientId, check, claimed);
  const checked = await checkRedirected(parameters, trusted, (idToken) =>
    readIdTokenHint(deps.tokens, idToken, trusted.client.clientId),
  );
  if (typeof checked !== 'string') {
    deps.conduct.onRequest(trusted.client.clientId);
    return begin(deps, trusted.client, checked, browserSession);
  }
  const address = { ...trusted, clientId: trusted.client.clientId, state: parameters.state };
  return refuseByRedirect(deps, address, checked);
}

async function begin(
  deps: BeginDeps,
  client: Client,
  request: AuthorizationRequest,
  cookie: string,
): Promise<AuthorizeResult> {
  const subject = await acceptedSubject(deps, request, cookie);
  const consent = subject && (await findConsent(deps.database, subject.sub, request.clientId));
  const { interaction: fresh, interactionCookie } = newInteraction(deps, request);
  const holder = subject && { sub: subject.sub, session: hashSecret(cookie) };
  const interaction: Interaction = { ...fresh, subject, holder };
  if (subject && consent && isComplete(interaction, consent.scopes)) {
    const allowed = { kind: 'allowed', subject, consentId: consent.consentId } as const;
    await issueCode(deps, request, allowed, interactionCookie);
    return codeRedirect(request, deriveCode(interactionCookie).code);
  }
  const page = pageOf(interaction);
  if (request.prompts.includes('none'))
    return refuseByRedirect(deps, request, `prompt_none_${page}`, subject?.sub);
  if (page === 'login') return startLogin(deps, client, request, cookie);
  await createInteraction(deps.redis, interaction, interaction.createdAt);
  return started(interaction, interactionCookie, page);
}

/** Leaves nothing in a store (R6.10). */
export async function startLogin(
  deps: StepDeps,
  client: Client,
  request: AuthorizationRequest,
  cookie: string,
  typedEmail?: string,
): Promise<StartedInteraction> {
  const { interaction: fresh, interactionCookie } = newInteraction(deps, request);
  const interaction = { ...fresh, wasSealed: true } as const;
  const stored = { kind: 'sealed', interaction, sealed: await deps.seal.seal(interaction) } as const;
  const own = { kind: 'owned', stored, interactionCookie, client } as const;
  const login = await loginPage(deps, own, cookie, typedEmail);
  return { ...started(interaction, interactionCookie, 'login'), login };
}

function newInteraction({ randomBytes, now }: StepDeps, request: AuthorizationRequest) {
  const interactionCookie = newSecret(randomBytes) as InteractionCookie;
  const id = randomBytes(16).toString('base64url');
  const cookieHash = hashSecret(interactionCookie);
  const interaction: Interaction = { id, cookieHash, createdAt: now(), request };
  return { interaction, interactionCookie };
}

function started({ id }: Interaction, interactionCookie: InteractionCookie, page: Page): StartedInteraction {
  const expiresIn = interactionValidMs / 1000;
  return { kind: 'interaction', interactionId: id, interactionCookie, expiresIn, page };
}

async function acceptedSubject(
  deps: StepDeps,
  request: AuthorizationRequest,
  cookie: string,
): Promise<Subject | undefined> {
  const now = deps.now();
  const signedIn = await findSignedIn(deps, cookie);
  if (signedIn === undefined || !acceptsSession(request, signedIn.session, now)) return undefined;
  const { session } = signedIn;
  const alive = await touchSession(deps.redis, cookie, session, now);
  return alive ? { sub: session.sub, authTime: session.authTime, origin: 'session' } : undefined;
}
