// The authorization request: refused directly, answered by redirect at once, or begun as a transaction.
import { codeLocation, errorLocation } from '../domain/authorization-answer.ts';
import type { AuthorizationParameters } from '../domain/authorization-parameters.ts';
import { type AuthorizationRequest, acceptsSession } from '../domain/authorization-request.ts';
import { type Binding, deriveCode } from '../domain/binding.ts';
import { type Interaction, interactionValidMs, type Subject, stepOf } from '../domain/interaction.ts';
import { hashSecret, newSecret } from '../domain/secrets.ts';
import { issueCode } from './decision.ts';
import type { AuthorizationDependencies } from './dependencies.ts';
import { checkDirectly } from './request/direct-checks.ts';
import { checkRedirected } from './request/redirected-checks.ts';
import { findSignedIn } from './signed-in-user.ts';

type Needed = Pick<
  AuthorizationDependencies,
  | 'now'
  | 'randomBytes'
  | 'readIdTokenHint'
  | 'createInteraction'
  | 'createAuthorizationCode'
  | `find${'Client' | 'User' | 'Consent' | 'Session'}`
  | 'grantConsent'
  | 'touchSession'
  | 'endSession'
>;

export interface ReceivedRequest {
  readonly parameters: AuthorizationParameters;
  /** Names of parameters that came more than once. */
  readonly repeated: readonly string[];
  /** Value of the session cookie; empty when there is none. */
  readonly browserSession: string;
}

export type Beginning =
  | { readonly kind: 'redirect'; readonly location: string }
  | {
      readonly kind: 'interaction';
      readonly interactionId: string;
      readonly binding: Binding;
      readonly expiresInSeconds: number;
    };

/**
 * Checks the request (R1, R2, R5) and opens a transaction for it, or answers at once when nothing needs to
 * be asked. Throws a Failure for what is refused directly, and when a store does not answer.
 */
export async function beginAuthorization(deps: Needed, received: ReceivedRequest): Promise<Beginning> {
  const { parameters, repeated, browserSession } = received;
  const trusted = await checkDirectly(deps, parameters, repeated);
  const checked = checkRedirected(deps, parameters, trusted);
  if (typeof checked !== 'string') return begin(deps, checked, browserSession);
  const address = { redirectUri: trusted.redirectUri, state: parameters.state };
  return { kind: 'redirect', location: errorLocation(address, checked) };
}

async function begin(deps: Needed, request: AuthorizationRequest, cookie: string): Promise<Beginning> {
  const subject = await acceptedSubject(deps, request, cookie);
  const consent = subject && (await deps.findConsent(subject.sub, request.clientId));
  const binding = newSecret(deps.randomBytes) as Binding;
  const interaction: Interaction = {
    id: deps.randomBytes(16).toString('base64url'),
    bindingHash: hashSecret(binding),
    createdAt: deps.now(),
    request,
    subject,
  };
  const step = stepOf(interaction, consent?.scopes ?? []);
  if (step === 'decide' && subject && consent) {
    const decision = { kind: 'allowed', subject, consentId: consent.consentId, at: deps.now() } as const;
    await issueCode(deps, interaction, decision, binding);
    return { kind: 'redirect', location: codeLocation(request, deriveCode(binding).code) };
  }
  if (request.prompts.includes('none')) {
    const error = step === 'login' ? 'login_required' : 'consent_required';
    return { kind: 'redirect', location: errorLocation(request, error) };
  }
  await deps.createInteraction(interaction);
  const expiresInSeconds = interactionValidMs / 1000;
  return { kind: 'interaction', interactionId: interaction.id, binding, expiresInSeconds };
}

/** Who is signed in already, where the request accepts that; it counts as a use of the session (R29). */
async function acceptedSubject(
  deps: Needed,
  request: AuthorizationRequest,
  cookie: string,
): Promise<Subject | undefined> {
  const now = deps.now();
  const signedIn = await findSignedIn(deps, cookie);
  if (signedIn === undefined || !acceptsSession(request, signedIn.session, now)) return undefined;
  const { session } = signedIn;
  const alive = await deps.touchSession(cookie, session, now);
  return alive ? { sub: session.sub, authTime: session.authTime, origin: 'session' } : undefined;
}
