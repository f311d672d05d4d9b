// The services of the running stack, called from outside; and the way to tokens over gRPC alone, as the gateway walks it.
import type { DescMethod, DescMethodUnary, DescService } from '@bufbuild/protobuf';
import { type CallOptions, type Client, createClient } from '@connectrpc/connect';
import {
  AuthorizationService,
  SubmitConsentRequest_Decision,
} from '@course-exchange/proto/identity/v1/authorization';
import { type ExchangeTokenResponse, TokenService } from '@course-exchange/proto/identity/v1/token';
import { basic, pkce } from '../support/flow.ts';
import { grpcTransport } from '../support/grpc-client.ts';
import { runningStack } from '../support/running-stack.ts';
import type { DemoUser, Partner } from '../support/stack-file.ts';

export type Service = 'identity' | 'design-catalog';

function addressOf(service: Service): string {
  const address = runningStack().addresses?.[service];
  if (address === undefined) throw new Error(`The stack file does not say where ${service} listens.`);
  return address;
}

export function clientOf<S extends DescService>(service: Service, description: S): Client<S> {
  return createClient(description, grpcTransport(addressOf(service)));
}

export function withToken(token: string): CallOptions {
  return { headers: { authorization: `Bearer ${token}` } };
}

/** The deadline stands in the header alone (`2m`: two milliseconds): the client would give up before the service. */
export function withDeadline(token: string, timeout: string): CallOptions {
  return { headers: { authorization: `Bearer ${token}`, 'grpc-timeout': timeout } };
}

/** Calls a method that no service has, with the messages of one that exists. */
export function callUnknown(service: Service, like: DescMethod, name: string): Promise<unknown> {
  const method = { ...like, methodKind: 'unary', name } as DescMethodUnary;
  return grpcTransport(addressOf(service)).unary(method, undefined, 5_000, undefined, {});
}

/** Logs the user in for `partner` and agrees; the exchange of the code that comes. */
export async function exchangeRequest(partner: Partner, { email, password }: DemoUser) {
  const authorization = clientOf('identity', AuthorizationService);
  const { verifier, challenge } = pkce();
  const [redirectUri] = partner.redirectUris;
  const begun = await authorization.beginAuthorization({
    parameters: {
      responseType: 'code',
      clientId: partner.clientId,
      redirectUri,
      scope: partner.scopes.join(' '),
      codeChallenge: challenge,
      codeChallengeMethod: 'S256',
      prompt: 'consent',
    },
  });
  if (begun.outcome.case !== 'interaction') throw new Error('No interaction was started.');
  const { interactionId, interactionCookie, login: page } = begun.outcome.value;
  const { formToken = '', sealedInteraction = '' } = page?.page ?? {};
  const interaction = { interactionId, interactionCookie, formToken, sealedInteraction };
  const { outcome } = await authorization.submitLogin(
    { interaction, email, password },
    { timeoutMs: 10_000, headers: { 'x-client-address': '127.0.0.1' } },
  );
  if (outcome.case !== 'accepted') throw new Error(`Not logged in: ${outcome.case}`);
  const decided = await authorization.submitConsent({
    interaction: { ...interaction, browserSession: outcome.value.browserSession },
    decision: SubmitConsentRequest_Decision.ALLOW,
  });
  if (decided.outcome.case !== 'redirect') throw new Error(`Not redirected: ${decided.outcome.case}`);
  const code = new URL(decided.outcome.value.location).searchParams.get('code') ?? '';
  const { authorization: credentials } = basic(partner);
  return {
    authorization: credentials,
    grantType: 'authorization_code',
    code,
    redirectUri,
    codeVerifier: verifier,
  };
}

/** Tokens of `user` for `partner`. */
export async function tokensFor(partner: Partner, user: DemoUser): Promise<ExchangeTokenResponse> {
  return clientOf('identity', TokenService).exchangeToken(await exchangeRequest(partner, user));
}
