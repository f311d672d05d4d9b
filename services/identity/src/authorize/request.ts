// An authorization request and its checks, in the rulings' order. A failed check throws and is answered directly (R1.1)
// until the redirect URI is trusted; afterwards it returns an error for the redirect.
import { inSeconds, type Seconds } from '@course-exchange/rules/brand';
import { authorizationParameters } from '@course-exchange/rules/parameters';
import type { Client } from '../clients/client.ts';
import { isWithin, parseScope, parseWords, type Scope } from '../clients/scope.ts';
import type { ClientId, Sub } from '../ids.ts';
import { authorizationRefusal } from '../refusals/reasons.ts';
import { type PkceChallenge, parseChallenge } from '../token/pkce.ts';
import type { RedirectReason } from './response.ts';

/** After one form-decoding; empty is absent (R1.8). */
export interface AuthorizationParameters {
  readonly responseType: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scope: string;
  readonly state: string;
  readonly nonce: string;
  readonly codeChallenge: string;
  readonly codeChallengeMethod: string;
  readonly prompt: string;
  readonly maxAge: string;
  readonly loginHint: string;
  readonly idTokenHint: string;
  readonly uiLocales: string;
  readonly request: string;
  readonly requestUri: string;
  readonly responseMode: string;
}

interface TrustedRequest {
  readonly client: Client;
  readonly redirectUri: string;
  readonly scopes: readonly Scope[];
  readonly pkce?: PkceChallenge | undefined;
}

export interface AuthorizationRequest
  extends Omit<TrustedRequest, 'client'>,
    Pick<AuthorizationParameters, 'state' | 'nonce' | 'loginHint' | 'uiLocales'> {
  readonly clientId: ClientId;
  readonly prompts: readonly Prompt[];
  readonly maxAge?: number | undefined;
  /** From `id_token_hint`. */
  readonly hintedSub?: Sub | undefined;
}

/** Bytes: longer `state` or `nonce` is refused (R3.6), others are ignored (R3.7). */
const longest = { state: 2_048, nonce: 2_048, login_hint: 254, ui_locales: 100 };

export function checkRepetition(repeated: readonly string[]): void {
  if (repeated.some((name) => authorizationParameters.includes(name)))
    throw authorizationRefusal('repeated_parameter');
}

export function checkDirectly(
  parameters: AuthorizationParameters,
  client: Client | undefined,
  notUtf8: readonly string[] = [],
): TrustedRequest {
  const { redirectUri, responseType } = parameters;
  if (parameters.clientId === '') throw authorizationRefusal('client_id_missing');
  if (!client) throw authorizationRefusal('unknown_client');
  requireAnswerable(client, redirectUri);
  const scopes = parseScope(parameters.scope);
  if (scopes === undefined) throw authorizationRefusal('unknown_scope');
  if (scopes.length === 0) throw authorizationRefusal('scope_missing');
  if (!isWithin(scopes, client.scopes)) throw authorizationRefusal('scope_not_approved');
  if (responseType === '') throw authorizationRefusal('response_type_missing');
  if (responseType !== 'code') throw authorizationRefusal('response_type');
  const pkce = parseChallenge(parameters.codeChallenge, parameters.codeChallengeMethod);
  for (const name of ['state', 'nonce'] as const)
    if (notUtf8.includes(name) || Buffer.byteLength(parameters[name]) > longest[name])
      throw authorizationRefusal(`${name}_too_long_or_not_utf8`);
  return { client, redirectUri, scopes, pkce };
}

/** Throws when there is no address to answer to (R1.3, R1.4). */
export function requireAnswerable({ active, redirectUris }: Client, redirectUri: string): void {
  if (!active) throw authorizationRefusal('inactive_client');
  if (redirectUri === '') throw authorizationRefusal('redirect_uri_missing');
  if (!redirectUris.includes(redirectUri)) throw authorizationRefusal('redirect_uri_not_registered');
}

export async function checkRedirected(
  parameters: AuthorizationParameters,
  { client: { clientId }, ...trusted }: TrustedRequest,
  readHint: (idToken: string) => Promise<Sub | undefined>,
): Promise<AuthorizationRequest | RedirectReason> {
  const { state, nonce, idTokenHint } = parameters;
  const loginHint = unlessLonger(parameters.loginHint, longest.login_hint);
  const uiLocales = unlessLonger(parameters.uiLocales, longest.ui_locales);
  const unsupported = unsupportedFeature(parameters);
  if (unsupported !== undefined) return unsupported;
  const prompts = parsePrompt(parameters.prompt);
  const maxAge = parseMaxAge(parameters.maxAge);
  if (prompts === undefined) return 'prompt';
  if (maxAge === 'malformed') return 'max_age';
  const hintedSub = idTokenHint === '' ? undefined : await readHint(idTokenHint);
  if (idTokenHint !== '' && hintedSub === undefined) return 'id_token_hint_refused';
  return { ...trusted, clientId, state, nonce, prompts, maxAge, loginHint, uiLocales, hintedSub };
}

function unlessLonger(text: string, bytes: number): string {
  return Buffer.byteLength(text) > bytes ? '' : text;
}

function unsupportedFeature(parameters: AuthorizationParameters): RedirectReason | undefined {
  const { request, requestUri, responseMode } = parameters;
  if (request !== '') return 'request';
  if (requestUri !== '') return 'request_uri';
  if (responseMode === '' || responseMode === 'query') return undefined;
  return 'response_mode';
}

export const prompts = ['none', 'login', 'consent', 'select_account'] as const;
export type Prompt = (typeof prompts)[number];

/** Case-sensitive (OpenID Connect Core §3.1.2.1). */
export function parsePrompt(text: string): readonly Prompt[] | undefined {
  const asked = parseWords(text, prompts);
  return asked?.includes('none') && asked.length > 1 ? undefined : asked;
}

/** Seconds since a login that the partner accepts, capped. */
export function parseMaxAge(text: string): number | 'malformed' | undefined {
  if (text === '') return undefined;
  if (!/^[0-9]+$/.test(text)) return 'malformed';
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER);
}

/** By `prompt=login` (R5.3), `max_age` and the hinted user (R5.10). */
export function acceptsSession(
  request: AuthorizationRequest,
  session: { readonly sub: Sub; readonly authTime: number },
  now: number,
): boolean {
  const { prompts, maxAge } = request;
  if (prompts.includes('login') || !isHinted(request, session.sub)) return false;
  // Strictly younger, so that max_age=0 always asks.
  return maxAge === undefined || now - session.authTime < maxAge * 1000;
}

/** True without a hint (OpenID Connect Core §3.1.2.1). */
export function isHinted({ hintedSub }: AuthorizationRequest, sub: Sub): boolean {
  return hintedSub === undefined || hintedSub === sub;
}

/** For a scope not granted yet, or `prompt=consent` (R6.2). */
export function needsConsent({ prompts, scopes }: AuthorizationRequest, granted: readonly Scope[]): boolean {
  return prompts.includes('consent') || !isWithin(scopes, granted);
}

/** Seconds since the epoch; only if `max_age` was sent (R5.6). */
export function authTimeClaim({ maxAge }: AuthorizationRequest, authTime: number): Seconds | undefined {
  return maxAge === undefined ? undefined : inSeconds(authTime);
}
