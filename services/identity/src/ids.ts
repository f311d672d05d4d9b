// Branded identifiers.
import type { Brand } from '@course-exchange/rules/brand';

/** Opaque and random, never reused (R19). */
export type Sub = Brand<string, 'Sub'>;
export type ClientId = Brand<string, 'ClientId'>;
/** A new one after each withdrawal (R13.4). */
export type ConsentId = Brand<string, 'ConsentId'>;
/** Public half of a code and of its refresh tokens. */
export type FamilyId = Brand<string, 'FamilyId'>;
/** SHA-256 of the secret of a code, token or cookie, base64url (R18.2). */
export type SecretHash = Brand<string, 'SecretHash'>;

/** `node:crypto`'s randomBytes. */
export type RandomBytes = (size: number) => Buffer;
