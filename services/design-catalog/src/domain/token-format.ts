// The compact form of a signed JWT (RFC 7515 §7.1), taken apart strictly. Nothing here is verified.
import { isUtf8 } from 'node:buffer';

export type JsonObject = Readonly<Record<string, unknown>>;

export interface UnverifiedToken {
  readonly header: JsonObject;
  readonly claims: JsonObject;
  /** What the signature covers. */
  readonly signingInput: Buffer;
  readonly signature: Buffer;
}

/** Characters of the longest token that is looked at. */
const longestToken = 8_192;
const bearer = /^Bearer +([A-Za-z0-9._-]+)$/i;

/** The token in an `Authorization` header of scheme Bearer; undefined when there is none. */
export function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined || authorization.length > longestToken + 100) return undefined;
  return bearer.exec(authorization)?.[1];
}

/** The parts of `compact`; undefined when it has another form. */
export function readToken(compact: string): UnverifiedToken | undefined {
  if (compact.length > longestToken) return undefined;
  const parts = compact.split('.').map(decodePart);
  const [headerBytes, claimsBytes, signature] = parts;
  if (parts.length !== 3 || !headerBytes || !claimsBytes || !signature) return undefined;
  const header = readObject(headerBytes);
  const claims = readObject(claimsBytes);
  if (header === undefined || claims === undefined) return undefined;
  const signingInput = Buffer.from(compact.slice(0, compact.lastIndexOf('.')), 'ascii');
  return { header, claims, signingInput, signature };
}

/** Node decodes leniently; only the one canonical spelling passes. */
function decodePart(part: string): Buffer | undefined {
  const bytes = Buffer.from(part, 'base64url');
  return bytes.length > 0 && bytes.toString('base64url') === part ? bytes : undefined;
}

function readObject(bytes: Buffer): JsonObject | undefined {
  if (!isUtf8(bytes)) return undefined;
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as JsonObject)
      : undefined;
  } catch {
    return undefined;
  }
}
