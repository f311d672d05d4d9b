// How a client names itself and proves it at the token endpoint: client_secret_basic or
// client_secret_post, never both (R7, RFC 6749 §2.3).
import { Failure } from '@course-exchange/runtime/failure';

export interface ClientCredentials {
  /** As presented; not yet known to be a client's. */
  readonly clientId: string;
  readonly clientSecret: string;
}

/** What a token request brings of them; empty is absent (R1). */
export interface PresentedCredentials {
  /** The Authorization header, whole. */
  readonly authorization: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** Throws `invalid_request` (two methods, two client ids) or `invalid_client` (missing, malformed). */
export function readClientCredentials(presented: PresentedCredentials): ClientCredentials {
  const { authorization, clientId, clientSecret } = presented;
  if (authorization === '') return requireBoth({ clientId, clientSecret });
  if (clientSecret !== '') throw new Failure('invalid_request', 'two client authentication methods');
  const credentials = requireBoth(parseBasic(authorization));
  if (clientId !== '' && clientId !== credentials.clientId)
    throw new Failure('invalid_request', 'two client ids');
  return credentials;
}

function requireBoth(credentials: ClientCredentials | undefined): ClientCredentials {
  if (!credentials?.clientId || !credentials.clientSecret)
    throw new Failure('invalid_client', 'client credentials missing or malformed');
  return credentials;
}

const basic = /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i;

/** RFC 7617, then RFC 6749 §2.3.1: split at the first colon, each half form-decoded. Undefined when malformed. */
export function parseBasic(authorization: string): ClientCredentials | undefined {
  const encoded = basic.exec(authorization)?.[1];
  const text = encoded && decodeBase64(encoded);
  const colon = text ? text.indexOf(':') : -1;
  if (!text || colon < 0) return undefined;
  const clientId = formDecode(text.slice(0, colon));
  const clientSecret = formDecode(text.slice(colon + 1));
  return clientId === undefined || clientSecret === undefined ? undefined : { clientId, clientSecret };
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decodeBase64(encoded: string): string | undefined {
  const bytes = Buffer.from(encoded, 'base64');
  // Node skips what it cannot read: only text that encodes back to itself was base64.
  if (bytes.toString('base64').replace(/=+$/, '') !== encoded.replace(/=+$/, '')) return undefined;
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

function formDecode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
