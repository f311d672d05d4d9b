// Client authentication: client_secret_basic or client_secret_post, never both (R7.5, RFC 6749 §2.3).
import { timingSafeEqual } from 'node:crypto';
import type { ClientId } from '../ids.ts';
import { Refusal, tokenRefusal } from '../refusals/reasons.ts';
import { digestSecret } from '../secrets.ts';
import type { ReasonOf } from '../security-events.ts';
import type { ClientStatus } from './grant-status-table.ts';

export interface ClientCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** Empty is absent. */
export interface PresentedCredentials extends ClientCredentials {
  readonly authorization: string;
}

/** Throws `invalid_request` (two methods, two client ids) or `invalid_client` (missing, malformed). */
export function readClientCredentials(presented: PresentedCredentials): ClientCredentials {
  const { authorization, clientId, clientSecret } = presented;
  if (authorization !== '' && clientSecret !== '') throw tokenRefusal('two_client_authentication_methods');
  const credentials = authorization === '' ? { clientId, clientSecret } : parseBasic(authorization);
  if (!credentials?.clientId || !credentials.clientSecret) throw unauthenticated('no_credentials');
  if (clientId !== '' && clientId !== credentials.clientId) throw tokenRefusal('two_client_ids');
  return credentials;
}

/** The client_id that the request names. */
export function claimedClientId({ authorization, clientId }: PresentedCredentials): string | undefined {
  return authorization === '' ? clientId : parseBasic(authorization)?.clientId;
}

const basic = /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i;

/** RFC 7617, then RFC 6749 §2.3.1: split at the first colon, each half form-decoded. */
export function parseBasic(authorization: string): ClientCredentials | undefined {
  const encoded = basic.exec(authorization)?.[1];
  const text = encoded && decodeBase64(encoded);
  const colon = text ? text.indexOf(':') : -1;
  if (!text || colon < 0) return undefined;
  const clientId = formDecode(text.slice(0, colon));
  const clientSecret = formDecode(text.slice(colon + 1));
  return clientId === undefined || clientSecret === undefined ? undefined : { clientId, clientSecret };
}

function decodeBase64(encoded: string): string | undefined {
  const text = Buffer.from(encoded, 'base64').toString();
  // Node skips invalid characters: only base64 of UTF-8 encodes back to itself.
  const again = Buffer.from(text).toString('base64');
  return again.replace(/=+$/, '') === encoded.replace(/=+$/, '') ? text : undefined;
}

function formDecode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/** An unknown client costs as much as a wrong secret (R18.5). */
const noSecret = ['0'.repeat(64)];

export function authenticateClient(
  client: ClientStatus | undefined,
  secret: string,
): { readonly client: ClientStatus; readonly secretHash: string } {
  const presented = digestSecret(secret);
  const valid = client?.secretHashes.length ? client.secretHashes : noSecret;
  // Constant time, and all of them: stopping at the first would reveal which one.
  const [secretHash] = valid.filter((hash) => timingSafeEqual(presented, Buffer.from(hash, 'hex')));
  if (client?.active && secretHash !== undefined) return { client, secretHash };
  if (client === undefined) throw unauthenticated('unknown_client');
  throw unauthenticated(client.active ? 'wrong_secret' : 'inactive_client', client.clientId);
}

function unauthenticated(reason: ReasonOf<'client_authentication.failed'>, client?: ClientId): Refusal {
  const event = { event: 'client_authentication.failed', client, reason } as const;
  return new Refusal('token', 'invalid_client', reason, { event });
}
