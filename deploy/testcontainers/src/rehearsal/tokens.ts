// ID tokens that a server of ours would never issue, and those of a key that it published beside the one in use.
import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

type Claims = Readonly<Record<string, unknown>>;

/** A key pair, and its public half as the key set has it. */
export interface SigningKey {
  readonly privateKey: KeyObject;
  readonly jwk: Readonly<Record<string, unknown>> & { readonly kid: string };
}

export function newSigningKey(kid: string): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid, alg: 'RS256', use: 'sig' } };
}

const partOf = (token: string, index: number): Claims | undefined => {
  try {
    return JSON.parse(Buffer.from(token.split('.')[index] ?? '', 'base64url').toString()) as Claims;
  } catch {
    return undefined;
  }
};

/** Undefined if `token` is no JWT. Nothing is verified. */
export const claimsOf = (token: string): Claims | undefined => partOf(token, 1);

/** How a forged token is signed: by a key, by `none`, or by HS256 and the client's secret. */
export type Forgery = SigningKey | { readonly secret: string } | 'none';

/** `token` with `changes` to its claims, signed anew. */
export function forged(token: string, changes: Claims, by: Forgery): string {
  const header = { ...partOf(token, 0), ...headerOf(by) };
  const input = [header, { ...claimsOf(token), ...changes }]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${input}.${signatureOf(input, by)}`;
}

function headerOf(by: Forgery): Claims {
  if (by === 'none') return { alg: 'none', kid: undefined };
  return 'secret' in by ? { alg: 'HS256', kid: undefined } : { kid: by.jwk.kid };
}

function signatureOf(input: string, by: Forgery): string {
  if (by === 'none') return '';
  if ('secret' in by) return createHmac('sha256', by.secret).update(input).digest('base64url');
  return sign('sha256', Buffer.from(input), by.privateKey).toString('base64url');
}
