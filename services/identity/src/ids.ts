// Branded identifiers.
declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** Opaque and random, never reused (R19). */
export type Sub = Branded<'Sub'>;
export type ClientId = Branded<'ClientId'>;
/** A new one after each withdrawal (R13.4). */
export type ConsentId = Branded<'ConsentId'>;
/** Public half of a code and of its refresh tokens. */
export type FamilyId = Branded<'FamilyId'>;
/** SHA-256 of the secret of a code, token or cookie, base64url (R18.2). */
export type SecretHash = Branded<'SecretHash'>;

/** `node:crypto`'s randomBytes. */
export type RandomBytes = (size: number) => Buffer;
