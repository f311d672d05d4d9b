// Identifiers, each a type of its own.
declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** Opaque and random, never reused (R19). */
export type Sub = Branded<'Sub'>;
export type ClientId = Branded<'ClientId'>;
/** A new one after each withdrawal (R13). */
export type ConsentId = Branded<'ConsentId'>;
/** Public half of a code and of the refresh tokens that descend from it. */
export type FamilyId = Branded<'FamilyId'>;
/** Of the secret of a code, token or cookie: SHA-256, base64url (R18). */
export type SecretHash = Branded<'SecretHash'>;

/** `node:crypto`'s randomBytes in main. */
export type RandomBytes = (size: number) => Buffer;
