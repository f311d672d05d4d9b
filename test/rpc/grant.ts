// The way to tokens over gRPC alone: authorization, login, consent, exchange, as the gateway walks it.
import type { Client } from '@connectrpc/connect';
import {
  AuthorizationService,
  SubmitConsentRequest_Decision,
} from '@course-exchange/proto/identity/v1/authorization';
import { type ExchangeTokenResponse, TokenService } from '@course-exchange/proto/identity/v1/token';
import { basic, pkce } from '../support/flow.ts';
import type { DemoUser, Partner } from '../support/stack-file.ts';
import { clientOf } from './wire-client.ts';

export interface Consented {
  /** The redirect's location, which carries the code. */
  readonly location: string;
  readonly verifier: string;
  /** Submits the same decision again, as a double click does. */
  readonly again: () => Promise<string>;
}

interface Reference {
  readonly interactionId: string;
  readonly binding: string;
  readonly formToken: string;
  readonly browserSession: string;
}

/** Logs `user` in for `partner` and agrees. */
export async function consent(partner: Partner, user: DemoUser): Promise<Consented> {
  const authorization = clientOf('identity', AuthorizationService);
  const { verifier, challenge } = pkce();
  const begun = await authorization.beginAuthorization({
    parameters: {
      responseType: 'code',
      clientId: partner.clientId,
      redirectUri: partner.redirectUris[0],
      scope: partner.scopes.join(' '),
      codeChallenge: challenge,
      codeChallengeMethod: 'S256',
      prompt: 'consent',
    },
  });
  if (begun.outcome.case !== 'interaction') throw new Error('No interaction was started.');
  const { interactionId, binding } = begun.outcome.value;
  const reference = { interactionId, binding, formToken: '', browserSession: '' };
  const interaction = await logIn(authorization, reference, user);
  const again = () => decide(authorization, interaction);
  return { location: await again(), verifier, again };
}

async function logIn(
  authorization: Client<typeof AuthorizationService>,
  reference: Reference,
  { email, password }: DemoUser,
): Promise<Reference> {
  const { view } = await authorization.getInteraction({ interaction: reference });
  if (view.case !== 'login') throw new Error(`Not the login form: ${view.case}`);
  const formToken = view.value.page?.formToken ?? '';
  const interaction = { ...reference, formToken };
  const { outcome } = await authorization.submitLogin(
    { interaction, email, password, clientAddress: '127.0.0.1' },
    { timeoutMs: 10_000 },
  );
  if (outcome.case !== 'accepted') throw new Error(`Not logged in: ${outcome.case}`);
  return { ...interaction, browserSession: outcome.value.browserSession };
}

async function decide(
  authorization: Client<typeof AuthorizationService>,
  interaction: Reference,
): Promise<string> {
  const { outcome } = await authorization.submitConsent({
    interaction,
    decision: SubmitConsentRequest_Decision.ALLOW,
  });
  if (outcome.case !== 'redirect') throw new Error(`Not redirected: ${outcome.case}`);
  return outcome.value.location;
}

/** The code of a redirect's location. */
function codeOf(location: string): string {
  return new URL(location).searchParams.get('code') ?? '';
}

export function exchangeRequest(
  partner: Partner,
  { location, verifier }: Pick<Consented, 'location' | 'verifier'>,
) {
  return {
    authorization: basic(partner).authorization,
    grantType: 'authorization_code',
    code: codeOf(location),
    redirectUri: partner.redirectUris[0],
    codeVerifier: verifier,
    formEncoded: true,
  };
}

/** Tokens of `user` for `partner`. */
export async function tokensFor(partner: Partner, user: DemoUser): Promise<ExchangeTokenResponse> {
  const consented = await consent(partner, user);
  return clientOf('identity', TokenService).exchangeToken(exchangeRequest(partner, consented));
}
